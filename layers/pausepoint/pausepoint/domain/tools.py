"""Tools: a Python function, its schema from its type hints, and whether a person has to agree to a call."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from operator import getitem
from typing import Annotated, Any, Final, get_args, get_origin, overload

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from pausepoint.domain.calls import Presentation, Question, Risk
from pausepoint.domain.canonical import canonical_json, parse_json
from pausepoint.domain.session import ToolSpec
from pausepoint.errors import ConfigurationError, InvalidInput, PausepointError

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # Bedrock's rule for tool names
_FIELD: Final = "arg_"

Predicate = Callable[[Mapping[str, Any]], bool]
Confirmation = bool | Predicate
Reconcile = Callable[[Mapping[str, Any], "ToolContext"], "bool | str | None"]
"""Looks whether a call that was cut off had its effect: True or a text (the result), False, or None (unknown)."""


@dataclass(frozen=True)
class ToolContext:
    """What a tool may know about the call it runs for. Injected by type; not part of the schema.

    Attributes:
        idempotency_key: the same for every attempt at this call; give it to whatever causes the effect.
        approver: who approved the call; None for calls that needed no approval.
        deadline: be back before this moment.
    """

    session_id: str
    call_id: str
    idempotency_key: str
    approver: str | None
    deadline: datetime
    logger: logging.Logger


class Tool:
    """A function the model may call.

    Attributes:
        spec: name, description and input schema, as the model is told.
        schema_hash: changes when the meaning of arguments may have changed.
        retry_safe: running it again after a crash does no harm.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        requires_confirmation: Confirmation = False,
        retry_safe: bool | None = None,
        reconcile: Reconcile | None = None,
        timeout: float | None = None,
        question: bool = False,
        risk: Risk = "medium",
        warning: str = "",
        highlight: Sequence[str] = (),
    ) -> None:
        self.name = name or function.__name__
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(f"Tool {self.name!r}: a name has 1 to 64 of the characters a-z A-Z 0-9 _ -.")
        self.function = function
        self._confirmation = requires_confirmation
        self.retry_safe = (requires_confirmation is False) if retry_safe is None else retry_safe
        self._reconcile = reconcile
        self.timeout = timeout
        self._is_question = question
        if question and (requires_confirmation is not False or reconcile is not None):
            raise ConfigurationError(
                f"Tool {self.name!r} asks a question: there is nothing to confirm or to reconcile."
            )
        self._context_name, self._model = _arguments_model(self.name, function)
        schema = _input_schema(self.name, self._model)
        self.spec = ToolSpec(name=self.name, description=inspect.getdoc(function) or self.name, input_schema=schema)
        self.schema_hash = self.spec.schema_hash
        unknown = [name for name in highlight if name not in schema.get("properties", {})]
        if unknown:
            raise ConfigurationError(f"Tool {self.name!r}: there is no argument {unknown[0]!r} to highlight.")
        if risk not in get_args(Risk):
            raise ConfigurationError(f"Tool {self.name!r}: risk is one of {', '.join(get_args(Risk))}.")
        if not isinstance(warning, str):
            raise ConfigurationError(f"Tool {self.name!r}: the warning is text, and not a {type(warning).__name__}.")
        self.presentation = Presentation(risk=risk, warning=warning, highlight=tuple(highlight))

    def arguments(self, raw: object) -> str:
        """Validate, coerce and complete what the model gave, and return it as canonical JSON.

        Raises:
            InvalidInput: it does not fit the schema; the message is written for the model to read.
        """
        if not isinstance(raw, dict):
            raise InvalidInput("The arguments must be a JSON object.")
        try:
            canonical_json(raw)  # refuses what no schema should have to cope with: NaN, depth, surrogates, size
        except InvalidInput as error:
            raise type(error)(f"Invalid arguments: the JSON {error}.") from None
        text = _canonical(self._parse(raw))
        if not self.means(text):
            raise InvalidInput("The arguments change each time they are validated, so they cannot be approved.")
        return text

    def means(self, arguments: str) -> bool:
        """Whether canonical arguments are still what would run: what validates them may have changed since."""
        try:
            return _canonical(self._parse(parse_json(arguments))) == arguments
        except InvalidInput:
            return False

    def needs_confirmation(self, arguments: str) -> bool:
        """Whether a person must agree to these canonical arguments. A predicate that raises says yes."""
        if self._is_question:
            return True
        if isinstance(self._confirmation, bool):
            return self._confirmation
        try:
            return bool(self._confirmation(self._values(arguments)))
        except Exception:  # noqa: BLE001 - the safe answer; whatever it raises, nobody said "no need to ask"
            return True

    def question_in(self, arguments: str) -> Question | None:
        """Return what these canonical arguments ask a person, if the tool is one that asks."""
        if not self._is_question:
            return None
        asked = parse_json(arguments)
        text, choices = asked.get("question"), asked.get("choices")
        return Question(
            text=text if isinstance(text, str) else "",
            choices=tuple(str(choice) for choice in choices) if isinstance(choices, list) else (),
        )

    def run(self, arguments: str, context: ToolContext) -> Any:
        """Enter the function with these canonical arguments and return what it returns.

        Async functions run to their end here, also when the caller is inside an event loop.
        """
        values = self._values(arguments)
        if self._context_name is not None:
            values[self._context_name] = context
        result = self.function(**values)
        return _finish(result) if inspect.isawaitable(result) else result

    def reconcile(self, arguments: str, context: ToolContext) -> bool | str | None:
        """Ask the tool's author's code whether a call that was cut off had its effect; None when unknown."""
        return None if self._reconcile is None else self._reconcile(self._values(arguments), context)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not decorated."""
        return self.function(*args, **kwargs)

    def _parse(self, raw: Mapping[str, Any]) -> BaseModel:
        try:
            return self._model.model_validate(raw)
        except ValidationError as error:
            raise InvalidInput(_readable(error)) from None
        except Exception as error:  # a validator is the user's own code, and may raise anything
            raise InvalidInput(f"Invalid arguments: their validation raised {type(error).__name__}.") from error

    def _values(self, arguments: str) -> dict[str, Any]:
        model = self._parse(parse_json(arguments))
        return {name.removeprefix(_FIELD): getattr(model, name) for name in type(model).model_fields}


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    requires_confirmation: Confirmation = False,
    retry_safe: bool | None = None,
    reconcile: Reconcile | None = None,
    timeout: float | None = None,
    question: bool = False,
    risk: Risk = "medium",
    warning: str = "",
    highlight: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    requires_confirmation: Confirmation = False,
    retry_safe: bool | None = None,
    reconcile: Reconcile | None = None,
    timeout: float | None = None,
    question: bool = False,
    risk: Risk = "medium",
    warning: str = "",
    highlight: Sequence[str] = (),
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool.

    The schema comes from the type hints, the description from the docstring; a parameter annotated
    `ToolContext` is injected.

    Args:
        name: what the model calls it; the function's name by default.
        requires_confirmation: True: a person approves every call. A predicate over the validated
            arguments (a mapping): a person approves the calls it is true for, or on which it raises.
        retry_safe: whether the tool may be run again when the process died inside it. By default
            true for tools that need no confirmation and false for those that do (or might).
        reconcile: asked before a person is when the process died inside the tool: given the validated
            arguments and a context, it returns True or the result's text (it happened), False (it did
            not), or None (unknown).
        timeout: seconds the tool needs at most; it is not started when less is left of the invocation.
        question: the tool asks a person something instead of asking for permission. Its function is never
            entered: what the person answers is the result. Arguments named `question` (a text) and
            `choices` (a list of texts) are shown as such.
        risk: how much is at stake, for whoever approves, and for choosing who is told.
        warning: the tool's own words on what is at stake, shown above the arguments.
        highlight: the names of the arguments to show first.

    Raises:
        ConfigurationError: the name, a parameter or an annotation cannot be used.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        return Tool(
            function,
            name=name,
            requires_confirmation=requires_confirmation,
            retry_safe=retry_safe,
            reconcile=reconcile,
            timeout=timeout,
            question=question,
            risk=risk,
            warning=warning,
            highlight=highlight,
        )

    return decorate if function is None else decorate(function)


class _UntitledSchema(GenerateJsonSchema):
    """JSON Schema without the titles pydantic derives from names: tokens that tell the model nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def _arguments_model(name: str, function: Callable[..., Any]) -> tuple[str | None, type[BaseModel]]:
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise ConfigurationError(f"Tool {name!r}: an annotation cannot be resolved: {error}.") from error
    context_name: str | None = None
    fields: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigurationError(f"Tool {name!r}: parameter {parameter.name!r} must be an ordinary one.")
        if parameter.annotation is parameter.empty:
            raise ConfigurationError(f"Tool {name!r}: parameter {parameter.name!r} needs a type annotation.")
        if _is_context(parameter.annotation):
            context_name = parameter.name
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        # The prefix keeps parameters apart from BaseModel's own attributes ("json", "copy", "model_…").
        annotated = getitem(Annotated, (parameter.annotation, Field(alias=parameter.name)))
        fields[_FIELD + parameter.name] = (annotated, default)
    config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_default=True)
    try:
        return context_name, create_model(f"{name}_arguments", __config__=config, **fields)
    except Exception as error:
        raise ConfigurationError(f"Tool {name!r}: its annotations have no schema: {error}") from error


def _input_schema(name: str, model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a tool's arguments: one that can be stored, and hashed."""
    try:
        schema = model.model_json_schema(schema_generator=_UntitledSchema)
        schema.pop("title", None)
        canonical_json(schema)
    except (PydanticUserError, PausepointError) as error:
        raise ConfigurationError(f"Tool {name!r}: its annotations have no schema that can be used: {error}") from error
    return schema


def _canonical(model: BaseModel) -> str:
    values, document = (model.model_dump(mode=mode, by_alias=True) for mode in ("python", "json"))
    return canonical_json(_sets_sorted(values, document))


def _sets_sorted(value: Any, document: Any) -> Any:
    """Return a value's JSON with its sets in a fixed order: their own differs from process to process."""
    match value, document:
        case set() | frozenset(), list():
            return sorted(document, key=canonical_json)
        case (list() | tuple(), list()) | (dict(), dict()) if len(value) == len(document):
            if isinstance(value, dict):
                pairs = zip(value.values(), document.items(), strict=True)
                return {key: _sets_sorted(item, written) for item, (key, written) in pairs}
            return [_sets_sorted(item, written) for item, written in zip(value, document, strict=True)]
        case _:
            return document


def _is_context(annotation: Any) -> bool:
    candidates = (annotation, *get_args(annotation)) if get_origin(annotation) is not None else (annotation,)
    return ToolContext in candidates


def _readable(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    parts = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}" for problem in problems
    ]
    return f"Invalid arguments. {'; '.join(parts[:10])}."


async def _awaited(result: Any) -> Any:
    return await result


def _finish(result: Any) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(result))
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, _awaited(result)).result()
