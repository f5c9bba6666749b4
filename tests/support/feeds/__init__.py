"""Tools for tests of feeds: a publisher, the faults of servers, and what reads the documents of a site."""
