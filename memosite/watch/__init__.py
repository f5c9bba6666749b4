"""The subscriber: polls feeds, and announces or runs a command for each new memo, once (FEEDS, `memosite watch`).

    address ─► fetch ─► document ─► walk (archives) ─► state: pending ─► deliver ─► state: done
                                         │ anything wrong: nothing is committed, the feed is asked again

What a feed says is content, so what is wrong with it is a value (`Failed`, `Rejected`), never an exception. Whatever
goes wrong, a guid is either unknown, or in the state with what became of it.
"""
