"""Offers the commands to language models, as a server of the Model Context Protocol on the standard streams.

    request ─► tools / resources: the words of a command ─► answering: that command ─► its output

Each request runs a command as the command line does, which first looks whether its sources have changed: the server
itself knows nothing of the archive, and keeps nothing of it.
"""
