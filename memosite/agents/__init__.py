"""What AI sessions ask of an archive: their inbox, an item, a thread, a brief; each cut to a budget of tokens.

    Archive ─► brief / inbox / show / thread ─► Answer ─► fit(budget) ─► Fitted ─► text or JSON

All of it is values: who offers it (commands, a server) opens the archive and prints.
"""
