"""Reasoning blocks that are bound to their conversation, as newer Claude models bind theirs.

A block's signature covers what came before it (model, system text, tools, earlier messages) and
the turn that it stands in. Replayed after a change, it no longer fits, and no retry cures that.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from typing import Any

Json = dict[str, Any]

# Known to everybody, and the same after a restart: it detects changes, it protects nothing.
_KEY = b"pausepoint local model"
_MARK = b"local"
_MAC_BYTES = 16
_THOUGHT = "The rule for this message is known, so I apply it."


def with_reasoning(kind: str, content: list[Json], model_id: str, request: Json) -> list[Json]:
    """Return the turn's content with a signed reasoning block in front.

    Args:
        kind: ``text``, ``signature-only`` (the text is empty) or ``redacted``.
        content: The other blocks of the turn.
        model_id: The model that is asked.
        request: The body of the Converse request that the turn answers.
    """
    if kind == "redacted":
        block: Json = {"reasoningContent": {"redactedContent": ""}}
    else:
        text = _THOUGHT if kind == "text" else ""
        block = {"reasoningContent": {"reasoningText": {"text": text, "signature": ""}}}
    turn = [block, *content]
    signature = base64.b64encode(_MARK + _prefix_mac(model_id, request, request["messages"]) + _turn_mac(turn)).decode()
    if kind == "redacted":
        block["reasoningContent"]["redactedContent"] = signature
    else:
        block["reasoningContent"]["reasoningText"]["signature"] = signature
    return turn


def signature_of(block: Json) -> bytes | None:
    """Return the signature of a reasoning block, None if it has none that was made here."""
    reasoning = block["reasoningContent"]
    encoded = reasoning.get("redactedContent") or (reasoning.get("reasoningText") or {}).get("signature")
    try:
        signature = base64.b64decode(encoded or "", validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None
    made_here = signature.startswith(_MARK) and len(signature) == len(_MARK) + 2 * _MAC_BYTES
    return signature if made_here else None


def fits_turn(signature: bytes, turn: list[Json]) -> bool:
    """Whether the turn is the one that was signed, to the last character."""
    return hmac.compare_digest(signature[-_MAC_BYTES:], _turn_mac(turn))


def fits_prefix(signature: bytes, model_id: str, request: Json, earlier: list[Json]) -> bool:
    """Whether model, system text, tools and earlier messages are those that were signed."""
    signed = signature[len(_MARK) : -_MAC_BYTES]
    return hmac.compare_digest(signed, _prefix_mac(model_id, request, earlier))


def _prefix_mac(model_id: str, request: Json, earlier: list[Json]) -> bytes:
    tools = (request.get("toolConfig") or {}).get("tools") or []
    messages = [[m["role"], _without_cache_points(m["content"])] for m in earlier]
    system = _without_cache_points(request.get("system") or [])
    return _mac([model_id, system, _without_cache_points(tools), messages])


def _turn_mac(turn: list[Json]) -> bytes:
    return _mac([_without_signature(block) for block in _without_cache_points(turn)])


def _without_signature(block: Json) -> Json:
    reasoning = block.get("reasoningContent")
    if reasoning is None:
        return block
    if "redactedContent" in reasoning:
        return {"reasoningContent": {"redactedContent": ""}}
    thought = reasoning.get("reasoningText") or {}
    return {"reasoningContent": {"reasoningText": {**thought, "signature": ""}}}


def _without_cache_points(blocks: list[Json]) -> list[Json]:
    # They say what to cache, not what was said, and callers move them from request to request.
    return [block for block in blocks if "cachePoint" not in block]


def _mac(value: Any) -> bytes:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return hmac.digest(_KEY, canonical, "sha256")[:_MAC_BYTES]
