"""A command called with operands and fields."""
from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional, Sequence, Type, TypeVar

from . import _ask, _engine
from ._errors import Problem, RequestError
from ._results import Result

_set = object.__setattr__  # results do not change; here they are made


class Predicted(Result):
    """A forecast. Its document is written when more than its first numbers is asked for."""

    __slots__ = ("_predicted", "step_time_s")  # the number that most who ask for many forecasts read
    _predicts = True

    @classmethod
    def of(cls, predicted: object, fits: bool, step_time_s: float, fields: Mapping[str, Any]) -> Any:
        """Of the engine's own. `fields` is nobody else's."""
        out = cls.__new__(cls)
        _set(out, "_predicted", predicted)
        _set(out, "step_time_s", step_time_s)
        _set(out, "_request", (fields, 0 if fits else 1))
        return out

    def __getattr__(self, name: str) -> Any:
        if name == "_text":
            _set(self, "_text", _engine.document(self._predicted))
            return self._text
        if name == "_predicted":  # of a document: it knows its numbers itself
            return None
        if name[0] != "_" and self._predicted is not None:
            number = _engine.number(self._predicted, name)
            if number is not None:
                return number
        return super().__getattr__(name)

    @property
    def request(self) -> Dict[str, Any]:
        asked = self._request[0]
        return _ask.request_of(asked) if isinstance(asked, dict) else super().request

    def __reduce__(self) -> Any:
        from ._commands import restored
        return restored, (self.command, self.to_json(), json.dumps(self.request), self.exit_code)


R = TypeVar("R", bound=Result)


def _with_operands(fields: Dict[str, Any], operands: Sequence[Any], operand: Optional[str],
                   selector: Optional[str], words: Sequence[str]) -> None:
    rest = list(operands)
    if selector is not None and rest and rest[0] in words:
        fields[selector] = rest.pop(0)
    if not rest:
        return
    if operand is None:
        raise RequestError([Problem("", f"{each!r} is no operand here") for each in rest])
    if operand in fields:
        raise RequestError([Problem(operand, "is given twice: in front, and by its name")])
    fields[operand] = rest[0] if len(rest) == 1 else rest


def ask(kind: Type[R], fields: Mapping[str, Any], progress: _ask.Progress, threads: int,
        operands: Sequence[Any], operand: Optional[str], selector: Optional[str],
        words: Sequence[str]) -> R:
    if operands:
        asked = dict(fields)
        _with_operands(asked, operands, operand, selector, words)
        fields = asked
    elif kind._predicts:
        predicted = _engine.predict(fields)
        if predicted is not None:
            return kind.of(*predicted, fields)  # type: ignore[attr-defined, no-any-return]
    request = _ask.request_text(fields)
    text, code = _ask.answer(kind.command, request, threads, progress)
    return kind(text, request, code)
