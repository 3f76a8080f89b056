"""The tool with which an agent asks a person something."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pausepoint.domain.tools import Tool


def _ask_human(
    question: Annotated[str, Field(min_length=1, description="The question, in words that stand by themselves.")],
    choices: Annotated[
        list[str] | None, Field(description="What may be answered; leave it out where anything may be.")
    ] = None,
) -> str:
    """Ask a person a question and wait for the answer, which may take hours. Ask only for what you cannot find out."""
    raise AssertionError(f"a person answers {question!r} {choices or ''}")


ask_human = Tool(_ask_human, name="ask_human", question=True, risk="low")
"""Give it to an agent like any other tool."""
