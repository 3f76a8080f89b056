"""The loop: ask the model, run what it asked for, until there is nothing more to do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from pausepoint import Agent, tool
from pausepoint.domain.events import Usage, load_event
from pausepoint.errors import ConfigurationError, InvalidInput, NotFound
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply, ModelRequest, RequestedCall
from tests.support.agents import World, results_in, statuses
from tests.support.tools import Files, returning
from tests.unit.domain.test_canonical import nested


def test_an_answer_without_calls_completes_the_session() -> None:
    world = World()
    result = world.agent(["Hello."]).run("Hi")
    assert (result.status, result.output, result.pending_calls) == ("completed", "Hello.", ())
    assert world.session(result.session_id) == result.session


def test_the_model_is_told_instructions_tools_and_what_was_said() -> None:
    model, files = ScriptedModel(["Hello."]), Files()
    World().agent(model, [files.read]).run("Hi")
    (request,) = model.requests
    assert (request.spec.system, [spec.name for spec in request.spec.tools]) == ("Be brief.", ["read"])
    assert [item.texts for item in request.history if hasattr(item, "texts")] == [("Hi",)]


def test_ungated_tools_run_at_once_and_the_model_reads_their_results() -> None:
    model, files = ScriptedModel([[("read", {"path": "a"}), ("read", {"path": "b"})], "Done."]), Files()
    result = World().agent(model, [files.read]).run("Read a and b")
    assert result.status == "completed"
    assert files.entered("read") == ["a", "b"]
    assert results_in(model.requests[1]) == [
        ("toolu_1_0", "success", "content of a"),
        ("toolu_1_1", "success", "content of b"),
    ]


HELLO = {"role": "assistant", "content": [{"text": "Hello."}]}
NO_REPLY: list[Any] = [
    None,
    "Hello.",
    ModelReply(message=HELLO, text=None, stop_reason="end_turn"),  # type: ignore[arg-type]
    ModelReply(message="Hello.", text="Hello.", stop_reason="end_turn"),  # type: ignore[arg-type]
    ModelReply(message=HELLO, text="Hello.", stop_reason=None),  # type: ignore[arg-type]
    ModelReply(message=HELLO, text="Hello.", stop_reason="end_turn", usage=Usage(input_tokens=None)),  # type: ignore[arg-type]
    ModelReply(message=HELLO, text="Hello.", stop_reason="end_turn", usage=None),  # type: ignore[arg-type]
    ModelReply(message=HELLO, text="", stop_reason="tool_use", calls=("read",)),  # type: ignore[arg-type]
    ModelReply(message=HELLO, text="", stop_reason="tool_use", calls=(RequestedCall(7, "read", {}),)),  # type: ignore[arg-type]
    ModelReply(message=HELLO, text="", stop_reason="tool_use", calls=(RequestedCall("t", ["read"], {}),)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("reply", NO_REPLY, ids=repr)
def test_what_is_no_reply_fails_the_session_and_not_what_is_stored_of_it(reply: Any) -> None:
    class Adapter:
        def settings(self) -> dict[str, Any]:
            return {"model_id": "own"}

        def respond(self, _: ModelRequest) -> Any:
            return reply

    world = World()
    failed = world.agent(Adapter(), [Files().read]).run("Hi")

    assert failed.status == "failed"
    stored = world.session(failed.session_id)
    assert [load_event(event.dump()) for event in stored.events] == list(stored.events)
    assert world.agent(["Hello."]).run("Again", session_id=failed.session_id).status == "completed"


def test_what_is_no_reply_is_said_in_words() -> None:
    class Adapter:
        def settings(self) -> dict[str, Any]:
            return {"model_id": "own"}

        def respond(self, _: ModelRequest) -> Any:
            return {"text": "Hello."}

    failed = World().agent(Adapter()).run("Hi")

    assert failed.session.failure is not None
    assert failed.session.failure.message == "The model's adapter gave a dict, and not a ModelReply."


def known(path: str) -> str:
    return {"a": path}[path]


def test_a_validator_that_raises_anything_refuses_the_call_and_the_model_reads_why() -> None:
    entered: list[str] = []

    @tool(requires_confirmation=True)
    def delete(path: Annotated[str, AfterValidator(known)]) -> None:
        """Delete a file."""
        entered.append(path)

    model = ScriptedModel([[("delete", {"path": "b"})], "Done."])
    result = World().agent(model, [delete]).run("Delete b")

    assert (result.status, entered) == ("completed", [])
    assert results_in(model.requests[1]) == [
        ("toolu_1_0", "error", "Not run. Invalid arguments: their validation raised KeyError.")
    ]


@pytest.mark.parametrize(("options", "said"), [({"name": 7}, "name"), ({"instructions": None}, "instructions")])
def test_an_agent_is_described_in_words(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"An agent's {said} is text, and not a"):
        World().agent(["Hello."], **options)


def test_async_tools_run_too_also_inside_an_event_loop() -> None:
    @tool
    async def look() -> str:
        """Look."""
        await asyncio.sleep(0)
        return "nothing there"

    model = ScriptedModel([[("look", {})], "Done."])

    async def notebook() -> None:
        World().agent(model, [look]).run("Look")

    asyncio.run(notebook())
    assert results_in(model.requests[1]) == [("toolu_1_0", "success", "nothing there")]


@pytest.mark.parametrize("value", ["", None, "  ", [], Exception(""), SystemExit(2)])
def test_case_31_whatever_a_tool_gives_back_the_model_reads_something(value: Any) -> None:
    model = ScriptedModel([[("give", {})], "Done."])
    result = World().agent(model, [returning(value)]).run("Go")
    ((_, status, text),) = results_in(model.requests[1])
    assert text.strip()
    assert status == ("error" if isinstance(value, BaseException) else "success")
    assert result.status == "completed"


def test_an_async_tool_that_is_cancelled_from_inside_is_an_error_like_any_other() -> None:
    @tool
    async def look() -> None:
        """Look."""
        raise asyncio.CancelledError

    model = ScriptedModel([[("look", {})], "Done."])
    assert World().agent(model, [look]).run("Go").status == "completed"
    assert results_in(model.requests[1])[0][1] == "error"


def test_case_35_results_of_500_kb_are_stored_and_given_to_the_model_whole() -> None:
    world, model = World(), ScriptedModel([[("give", {}), ("give", {})], "Done."])
    result = world.agent(model, [returning("é" * 250_000)]).run("Go")
    assert result.status == "completed"
    assert [(status, text) for _, status, text in results_in(model.requests[1])] == [("success", "é" * 250_000)] * 2
    assert world.session(result.session_id).history() == result.session.history()


def test_case_35_a_result_of_more_than_a_megabyte_is_cut_stored_and_said_to_be_cut() -> None:
    world, model = World(), ScriptedModel([[("give", {}), ("give", {})], "Done."])
    result = world.agent(model, [returning("é" * 600_000)]).run("Go")
    assert result.status == "completed"
    for _, status, text in results_in(model.requests[1]):
        assert status == "success"
        assert "cut here" in text
    assert world.session(result.session_id).history() == result.session.history()


def test_case_35_a_session_of_300_turns_is_stored_and_read_back() -> None:
    world, files = World(), Files()
    model = ScriptedModel([*[[("read", {"path": str(turn)})] for turn in range(300)], "Done."])
    limits = replace(world.agent([]).limits, model_calls=400, tool_calls=400)
    result = world.agent(model, [files.read], limits=limits).run("Go")
    assert result.status == "completed"
    assert files.entered("read") == [str(turn) for turn in range(300)]
    assert world.session(result.session_id) == result.session


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"path": "\ud800"}, id="half a surrogate pair"),
        pytest.param({"path": float("nan")}, id="nan"),
        pytest.param({"path": float("inf")}, id="infinity"),
        pytest.param({"path": "x" * 70_000}, id="over 64 KB"),
        pytest.param({"path": nested(33)}, id="too deep"),
        pytest.param({1: "a"}, id="a key that is a number"),
        pytest.param('{"path": "a", "path": "b"}', id="text with a key twice"),
        pytest.param(None, id="nothing"),
    ],
)
def test_case_36_arguments_that_are_not_json_are_an_error_result_not_a_crash_loop(arguments: Any) -> None:
    world, files = World(), Files()
    call = RequestedCall("toolu_1", "delete", arguments)
    content = [{"toolUse": {"toolUseId": "toolu_1", "name": "delete", "input": arguments}}]
    reply = ModelReply({"role": "assistant", "content": content}, "", "tool_use", (call,))
    model = ScriptedModel([reply, "Sorry."])
    result = world.agent(model, files.all).run("Delete it")
    assert (result.status, result.output) == ("completed", "Sorry.")
    ((_, status, text),) = results_in(model.requests[1])
    assert status == "error"
    assert text.startswith("Not run")
    assert files.entries == []
    assert statuses(result) == {}
    assert world.mailbox.sent == []


@pytest.mark.parametrize(
    "block",
    [
        pytest.param({"text": "x" * 1_050_000}, id="too long"),
        pytest.param({"number": 10**5000}, id="a number of 5000 digits"),
        pytest.param({"deep": nested(3000)}, id="deeper than Python writes"),
        pytest.param({"set": {1}}, id="not data"),
    ],
)
def test_case_36_a_turn_that_cannot_be_kept_fails_the_session_before_any_of_it_runs(block: dict[str, Any]) -> None:
    world, files = World(), Files()
    content = [block, {"toolUse": {"toolUseId": "t", "name": "read", "input": {"path": "a"}}}]
    call = RequestedCall("t", "read", {"path": "a"})
    reply = ModelReply({"role": "assistant", "content": content}, "", "tool_use", (call,))
    model = ScriptedModel([reply, "Sorry."])
    agent = world.agent(model, files.all)
    result = agent.run("Go")
    assert result.status == "failed"
    assert result.session.failure is not None
    assert "cannot be kept" in result.session.failure.message
    assert files.entries == []
    assert agent.run("Try again", session_id=result.session_id).status == "completed"


def test_case_30_what_the_model_thought_is_sent_back_as_it_was() -> None:
    content: list[dict[str, Any]] = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"reasoningText": {"text": "", "signature": "only a signature"}}},
        {"reasoningContent": {"redactedContent": b"\x00\xff not text"}},
        {"text": "I will delete it."},
        {"toolUse": {"toolUseId": "toolu_1", "name": "delete", "input": {"path": "a"}}},
    ]
    said = {"role": "assistant", "content": content}
    reply = ModelReply(said, "I will delete it.", "tool_use", (RequestedCall("toolu_1", "delete", {"path": "a"}),))
    world, files, model = World(), Files(), ScriptedModel([reply, "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    world.press(paused.session_id, "c2-0", "approved")
    world.agent(model, files.all).resume(paused.session_id)
    replayed = model.requests[1].history[1]
    assert getattr(replayed, "message", None) == said


@pytest.mark.parametrize("message", ["", "  \n", "x" * (256 * 1024 + 1), "é" * (128 * 1024 + 1), "\ud800"])
def test_messages_that_cannot_be_kept_are_refused_and_the_field_is_named(message: str) -> None:
    world, model = World(), ScriptedModel([])
    with pytest.raises(InvalidInput) as refusal:
        world.agent(model).run(message)
    assert refusal.value.field == "message"
    assert world.store.operations == []


def test_an_unknown_session_is_not_found() -> None:
    agent = World().agent([])
    with pytest.raises(NotFound):
        agent.run("Hi", session_id="nobody's")
    with pytest.raises(NotFound):
        agent.resume("nobody's")


def test_two_tools_of_one_name_are_refused() -> None:
    files = Files()
    with pytest.raises(ConfigurationError):
        World().agent([], [files.read, files.read])


def test_an_agent_without_services_keeps_its_sessions_in_memory() -> None:
    agent = Agent(name="clerk", model=ScriptedModel(["One.", "Two."]))
    first = agent.run("Hi")
    assert agent.run("More", session_id=first.session_id).output == "Two."


def test_each_step_writes_only_itself() -> None:
    world, files = World(), Files()
    world.agent([[("read", {"path": "a"})], [("read", {"path": "b"})], "Done."], files.all).run("Go")
    assert world.store.operations == ["create", "commit", "commit", "commit"]
