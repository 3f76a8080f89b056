"""The README's example of testing an agent: no AWS, no set-up, ten lines."""

from __future__ import annotations

from pausepoint import Agent, DecisionRequest, tool
from pausepoint.models.scripted import ScriptedModel


def test_an_agent_pauses_and_goes_on_after_the_decision() -> None:
    deleted = []

    @tool(requires_confirmation=True)
    def delete_file(path: str) -> None:
        """Delete a file."""
        deleted.append(path)

    agent = Agent(
        name="files",
        model=ScriptedModel([[("delete_file", {"path": "a.txt"})], "Gone."]),
        tools=[delete_file],
    )

    paused = agent.run("Delete a.txt")
    assert paused.status == "paused"
    assert deleted == []

    done = agent.resume(paused.session_id, [DecisionRequest(paused.pending_calls[0].call_id, "approved")])
    assert done.output == "Gone."
    assert deleted == ["a.txt"]
