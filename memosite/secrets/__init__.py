"""Which strings in a text are secrets: keys, tokens and passwords. Nobody is asked, and nothing is changed."""

from memosite.secrets.detector import DIGEST, RULES, Secret, find_secrets
from memosite.secrets.engine import loading_rules

__all__ = ["DIGEST", "RULES", "Secret", "find_secrets", "loading_rules"]
