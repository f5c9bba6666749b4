"""Tools for tests of feeds: a publisher, the faults of servers, real feed readers."""
