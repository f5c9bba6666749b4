"""Decides from an envelope who may see an artifact; so far, whether a removed one may still be named."""

import json

_RETENTION = ("confidential", "private", "ephemeral")


def is_confidential(envelope: bytes) -> bool:
    """Whether an envelope is confidential (SPEC 9); one that cannot be read counts as confidential."""
    try:
        fields = json.loads(envelope.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return True
    if not isinstance(fields, dict):
        return True
    metadata = fields.get("metadata")
    policy = metadata.get("retention_policy") if isinstance(metadata, dict) else None
    is_private = isinstance(policy, str) and policy.strip().casefold() in _RETENTION
    return fields.get("x.legal.confidentiality", "public") != "public" or is_private
