/* memosite: what pages do beyond being read. */
