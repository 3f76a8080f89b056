"""Compression of what is stored, which mostly is small: one entry of a log repeats too little by itself.

So what every log has in common is known beforehand (zlib's preset dictionary, RFC 1950). What was compressed
with it can be read with nothing else: it never changes. A better one is another constant beside it; a stream
names the one that it needs by its checksum.
"""

from __future__ import annotations

import zlib
from typing import Final

# What is most frequent stands last: the shorter a distance, the fewer bits it takes.
_LOGS: Final = (
    '{"type":"session_cancelled","at":"{"type":"session_failed","at":"2026-","code":"model-failed","message":"'
    '{"type":"call_reissued","at":"","reissued_as":"c{"type":"doubt_resolved","at":"","answer":"did_not_happen'
    '"verified":"aws-signature","verified":"link","by":"the holder of the approval link","by":"arn:aws:sts::'
    'assumed-role/arn:aws:iam::user/","reason":"","digest_shown":"","arguments_approved":"'
    '{"type":"decision","at":"","call_id":"c","name":"delete_","verdict":"rejected","verdict":"approved","by":"'
    '{"type":"execution","at":"","call_id":"c","name":"","execution_id":"","digest_run":"","ended_at":"'
    '","status":"succeeded"},"status":"failed"},{"type":"user_message","at":"","by":"","text":"'
    '"gated":true,"retry_safe":false,"refusal":"Not run: "reasoningContent":{"reasoningText":{"text":"","signature":"'
    '{"type":"tool_result","at":"2026-","call_id":"c2-0","name":"list_files","status":"error","text":"'
    ',"entered":false},{"type":"tool_result","at":"2026-12-","call_id":"c","name":"read_file","status":"success",'
    '"text":"","entered":true},{"type":"assistant_turn","at":"2027-01-0T1:0.Z","text":"","calls":[{"call_id":"c'
    '-0","tool_call_id":"tooluse_","tool_call_id":"toolu_01","name":"","arguments":"{\\"path\\":\\"\\",\\"'
    '","digest":"","schema_hash":"","gated":false,"retry_safe":true}],"stop_reason":"end_turn","stop_reason":"tool_use",'
    '"usage":{"input_tokens":1,"output_tokens":1},"message":{"role":"assistant","content":[{"text":"'
    '"},{"toolUse":{"toolUseId":"tooluse_","name":"","input":{"path":""}}}]}}]'
).encode("ascii")


def deflated(raw: bytes) -> bytes:
    """Return bytes compressed."""
    stream = zlib.compressobj(zdict=_LOGS)
    return stream.compress(raw) + stream.flush()


def inflated(packed: bytes) -> bytes:
    """Return what was compressed, with or without the dictionary. Raises zlib.error when it is not that."""
    stream = zlib.decompressobj(zdict=_LOGS)
    raw = stream.decompress(packed)
    if not stream.eof:  # unlike zlib.decompress, it takes the beginning of a stream for all of it
        raise zlib.error("the stream is cut off")
    return raw
