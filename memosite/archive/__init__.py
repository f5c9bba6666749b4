"""The model of everything that was read, its ledger and its addresses."""
