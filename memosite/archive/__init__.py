"""The archive model, the ledger of published URLs, and the paths of the site."""
