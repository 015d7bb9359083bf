"""From keyword arguments to a request, and from the engine's answer to a result."""
from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple, Union

from . import _engine
from ._errors import Problem, RequestError

#: Told (done, of) about ten times a second; True: a bar, by tqdm where it is installed.
Progress = Union[Callable[[int, int], object], bool, None]


def plain(value: Any) -> Any:
    """As JSON has it: of NumPy's numbers and arrays, paths, ranges, mappings and results."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):  # a number or an array of NumPy's
        return plain(value.tolist())
    if isinstance(value, Iterable):
        return [plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} cannot be part of a request")


def request_of(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """The members of a request: flags without dashes. What is None is not given."""
    return {name.rstrip("_").replace("_", "-"): plain(value)
            for name, value in arguments.items() if value is not None}


def problems_of(listed: Iterable[Tuple[str, str, Iterable[int]]]) -> Tuple[Problem, ...]:
    return tuple(Problem(path, message, tuple(near)) for path, message, near in listed)


class _Bar:
    """Progress on the error output."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, done: int, of: int) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            print(f"\r{done} of {of}", end="", file=sys.stderr, flush=True)
            self._bar = False
            return
        if self._bar is None:
            self._bar = tqdm(total=of)
        self._bar.total = of
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is False:
            print(file=sys.stderr)
        elif self._bar is not None:
            self._bar.close()


class told:
    """Who is told of progress, while the work lasts."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __enter__(self) -> Optional[Callable[[int, int], object]]:
        self._bar = _Bar() if self._progress is True else None
        return self._bar or (self._progress if callable(self._progress) else None)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def answer(command: str, request: str, threads: int = 0, progress: Progress = None,
           as_text: bool = False) -> Tuple[str, int]:
    """The engine's answer to a request as JSON, and the exit code that the program would have."""
    with told(progress) as listener:
        text, code, problems, warned = _engine.answer(command, request, threads, listener, as_text)
    if problems:
        raise RequestError(problems_of(problems))
    for warning in problems_of(warned):
        warnings.warn(str(warning), stacklevel=4)
    return text, code


def request_text(arguments: Mapping[str, Any]) -> str:
    return json.dumps(request_of(arguments), allow_nan=False)
