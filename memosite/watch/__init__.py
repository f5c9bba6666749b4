"""The feed subscriber: polls feeds; announces each new memo or runs a command for it, once (FEEDS, `memosite watch`).

    address ─► fetch ─► document ─► walk (archives) ─► state: pending ─► deliver ─► state: done
                                         │ anything wrong: nothing is committed, the feed is asked again

A feed is untrusted content, so errors in it are values (`Failed`, `Rejected`), never exceptions. After any failure, a
guid is either unknown, or in the state with its fate.
"""
