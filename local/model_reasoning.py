"""The rules for reasoning that is sent back: unchanged, and in the conversation it belongs to."""

from __future__ import annotations

from typing import Any

from local import model_binding
from local.model_turns import Json, invalid

BETA = "thinking-binding-controls-2026-08-01"


def check(model_id: str, request: Json) -> list[str]:
    """Check every reasoning block of a request whose other blocks are valid.

    Returns:
        The places of the blocks that no longer fit and that the request asks to drop.

    Raises:
        ConverseError: as Converse would answer.
    """
    thinking = _thinking(request)
    drop = _asks_to_drop(request, thinking)
    dropped: list[str] = []
    messages = request["messages"]
    for index, message in enumerate(messages):
        for position, block in enumerate(message["content"]):
            if "reasoningContent" not in block:
                continue
            where = f"messages.{index}.content.{position}"
            signature = model_binding.signature_of(block)
            if signature is None:
                raise invalid(f"{where}: Invalid `signature` in `thinking` block")
            if not model_binding.fits_turn(signature, message["content"]):
                raise invalid(
                    f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant "
                    "message cannot be modified. These blocks must remain as they were in the "
                    "original response."
                )
            if model_binding.fits_prefix(signature, model_id, request, messages[:index]):
                continue
            if not drop:
                raise invalid(
                    f"{where}: Invalid `signature` in `thinking` block. The block is bound to a "
                    "different conversation. Remove the block, or set "
                    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
                )
            dropped.append(where)
    if thinking.get("type") == "enabled":
        _check_last_turn_starts_with_reasoning(messages)
    return dropped


def wants_reasoning(request: Json) -> bool:
    """Whether the request asks the model to think, so that its turn starts with reasoning."""
    return _thinking(request).get("type") in ("enabled", "adaptive")


def _thinking(request: Json) -> dict[str, Any]:
    fields = request.get("additionalModelRequestFields")
    thinking = fields.get("thinking") if isinstance(fields, dict) else None
    if thinking is None:
        return {}
    if not isinstance(thinking, dict) or "type" not in thinking:
        raise invalid("thinking.type: Field required")
    return thinking


def _asks_to_drop(request: Json, thinking: dict[str, Any]) -> bool:
    binding = thinking.get("block_binding")
    if binding is None:
        return False
    betas = request["additionalModelRequestFields"].get("anthropic_beta") or []
    if not isinstance(betas, list) or BETA not in betas:
        raise invalid(
            f"thinking.block_binding: This setting requires the value `{BETA}` in the `anthropic-beta` header."
        )
    behavior = binding.get("prefix_mismatch_behavior") if isinstance(binding, dict) else None
    if behavior not in ("drop_block", "error"):
        raise invalid("thinking.block_binding.prefix_mismatch_behavior: Input should be 'drop_block' or 'error'")
    return bool(behavior == "drop_block")


def _check_last_turn_starts_with_reasoning(messages: list[Json]) -> None:
    # Only while the turn's tool results are being answered; older turns may go without.
    answers_tools = any("toolResult" in block for block in messages[-1]["content"])
    if not answers_tools:
        return
    if "reasoningContent" not in messages[-2]["content"][0]:
        raise invalid(
            f"messages.{len(messages) - 2}.content.0.type: Expected `thinking` or "
            "`redacted_thinking`. When `thinking` is enabled, a final `assistant` message must "
            "start with a thinking block."
        )
