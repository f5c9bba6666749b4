"""Where `cite` and `verify` find items: in repos with their former versions, or in a published site."""
