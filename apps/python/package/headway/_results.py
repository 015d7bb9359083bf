"""What commands give: their documents as values that do not change."""
from __future__ import annotations

import html
import json
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from . import _ask
from ._errors import RequestError


def _attribute(name: str) -> str:
    return name.replace("-", "_")


class Record(Mapping):  # type: ignore[type-arg]
    """An object of a document: members as attributes and as items."""

    __slots__ = ("_members",)

    def __init__(self, members: Dict[str, Any]) -> None:
        object.__setattr__(self, "_members", {name: _frozen(each) for name, each in members.items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for each in (name, name.replace("_", "-")):
            if each in self._members:
                return self._members[each]
        raise AttributeError(f"there is no {name!r}; there are " + ", ".join(self._members))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("results do not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("results do not change")

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *map(_attribute, self._members)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(tuple(self._members.items()))

    def __reduce__(self) -> Tuple[type, Tuple[Dict[str, Any]]]:
        return type(self), (self.to_dict(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in self._members.items())})"

    def to_dict(self) -> Dict[str, Any]:
        """As json.loads would give it."""
        return {name: _thawed(each) for name, each in self._members.items()}

    def _repr_html_(self) -> str:
        return _table_of(self)


class Records(tuple):  # type: ignore[type-arg]
    """A list of a document."""

    __slots__ = ()

    def to_dict(self) -> List[Any]:
        return [_thawed(each) for each in self]

    def to_frame(self) -> Any:
        """A pandas.DataFrame, a row for each."""
        return _frame(self)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20)) if _is_table(self) else html.escape(repr(self))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return Records(_frozen(each) for each in value)
    return value


def _thawed(value: Any) -> Any:
    return value.to_dict() if isinstance(value, (Record, Records)) else value


def _is_table(value: Any) -> bool:
    return isinstance(value, Records) and len(value) > 0 and all(isinstance(e, Record) for e in value)


def _flat(record: Mapping, before: str = "") -> Dict[str, Any]:  # type: ignore[type-arg]
    out: Dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Record):
            out.update(_flat(value, before + name + "."))
        else:
            out[before + name] = value
    return out


def _frame(records: Iterable[Any]) -> Any:
    import pandas
    return pandas.DataFrame([_flat(each) if isinstance(each, Record) else {"value": each}
                             for each in records])


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Records) and not _is_table(value):
        return ", ".join(map(_shown, value))
    return html.escape(str(value))


def _table_of(record: Mapping) -> str:  # type: ignore[type-arg]
    """Its numbers and words, two columns; lists of objects are left to their own tables."""
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{_shown(value)}</td></tr>"
                   for name, value in _flat(record).items() if not _is_table(value))
    return f"<table>{rows}</table>"


class Result(Record):
    """The answer to a request. Attributes are the members of the document that
    `headway COMMAND --json` prints; print() shows what the command shows in a terminal.
    """

    __slots__ = ("_text", "_request")
    command = ""
    _rows: Optional[str] = None  # the member that to_frame() shows
    _plots = False  # whether the command draws
    _predicts = False  # whether the engine holds it, and writes its document when that is asked for

    def __init__(self, text: str, request: str = "{}", exit_code: int = 0) -> None:
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_request", (request, exit_code))

    def __getattr__(self, name: str) -> Any:
        if name == "_members":  # read when something is asked for
            members = {each: _frozen(value) for each, value in json.loads(self.to_json()).items()}
            object.__setattr__(self, "_members", members)
            return members
        return super().__getattr__(name)

    @property
    def exit_code(self) -> int:
        """0, or 1: what was asked for is not to be had (the run does not fit, no layout does)."""
        return self._request[1]  # type: ignore[no-any-return]

    @property
    def request(self) -> Dict[str, Any]:
        """What was asked: sweeps and other requests begin from it."""
        return json.loads(self._request[0])  # type: ignore[no-any-return]

    def to_json(self) -> str:
        """The document, to the byte that of the program."""
        return self._text  # type: ignore[no-any-return]

    def to_frame(self) -> Any:
        """A pandas.DataFrame: a row for each of its layouts, groups, points or the like, or one."""
        rows = self._members.get(self._rows) if self._rows else None
        return _frame(rows) if rows is not None else _frame([self])

    def drawings(self) -> Dict[str, str]:
        """The SVGs that the command draws, by name: none where it draws nothing of what was asked,
        as of one way to serve. It is asked again for that."""
        if not self._plots:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            request = dict(self.request, plot=folder)
            try:
                _ask.answer(self.command, json.dumps(request))
            except RequestError as refused:
                if any(problem.path != "plot" for problem in refused.problems):
                    raise
                return {}
            out = {}
            for name in sorted(os.listdir(folder)):
                if name.endswith(".svg"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        out[name] = file.read()
            return out

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Result):
            return self.command == other.command and self.to_json() == other.to_json()
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.command, self.to_json()))

    def __reduce__(self) -> Tuple[Any, ...]:
        from ._commands import restored
        return restored, (self.command, self.to_json(), *self._request)

    def __repr__(self) -> str:
        short = {name: value for name, value in self._members.items()
                 if isinstance(value, (str, int, float)) and not isinstance(value, Records)}
        words = ", ".join(f"{name}={value!r}" for name, value in list(short.items())[:8])
        return f"<headway.{self.command}: {words}>"

    def __str__(self) -> str:
        request = {name: value for name, value in self.request.items()
                   if name not in ("save", "output", "csv", "plot", "report")}
        return _ask.answer(self.command, json.dumps(request), as_text=True)[0]

    def _repr_html_(self) -> str:
        rows = self._members.get(self._rows) if self._rows else None
        table = _table_of(self)
        if rows is not None and _is_table(rows):
            try:
                table += rows._repr_html_()
            except ImportError:  # without pandas
                pass
        drawn = (re.sub(r"^.*?(?=<svg)", "", svg, flags=re.S) for svg in self.drawings().values())
        return table + "".join(f"<div>{svg}</div>" for svg in drawn)
