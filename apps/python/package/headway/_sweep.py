"""Many forecasts at once."""
from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy

from . import _ask, _engine
from ._errors import Problem, RequestError
from ._results import Result
from ._table import Column, Table, held, joined, places_of

_Swept = Tuple[str, List[str], "numpy.ndarray[Any, Any]"]


def sweep(base: Union[Mapping[str, Any], Result], fields: Mapping[str, Any], *, grid: bool = True,
          executor: Any = None, chunk: int = 10_000, threads: int = 0,
          progress: _ask.Progress = None) -> Table:
    """Forecasts of a run with other values of some of its fields.

    base: fields of a run, or what predict() gave. fields: for each field its values, a list or an array.
    grid: every combination of them, the last field changing fastest; False: the i-th of each together.
    executor: of concurrent.futures, mpi4py.futures or Dask, or a pool as multiprocessing's and Ray's; it is
    given `chunk` rows at a time, and the answer is the same. Without one, threads (0: one a core) do the work.

    Columns: the fields, then those of predict ("step_time_s", "parts_s.compute", "mfu", "fits", ...), NaN
    where there is no forecast, and "problem", which says why. Seconds, bytes, joules.
    """
    run = base.request if isinstance(base, Result) else _ask.request_of(base)
    names = {_flag(name) for name in fields}
    request = json.dumps({name: value for name, value in run.items() if name not in names})
    swept = _rows(fields, grid)
    rows = len(swept[0][2]) if swept else 1
    if executor is None:
        return _work(request, swept, threads, progress)
    pieces = [[(name, texts, places[begin:begin + chunk]) for name, texts, places in swept]
              for begin in range(0, rows, chunk)]
    parts: List[Table] = []
    waiting = [_begun(executor, request, piece, 1) for piece in pieces]
    with _ask.told(progress) as listener:
        for result in waiting:
            parts.append(result())
            if listener is not None:
                listener(len(parts), len(waiting))
    return joined(parts)


def _begun(executor: Any, *arguments: Any) -> Callable[[], Table]:
    """Work that somebody else does; what it gives is waited for."""
    if hasattr(executor, "submit"):
        return executor.submit(_work, *arguments).result  # type: ignore[no-any-return]
    return executor.apply_async(_work, arguments).get  # type: ignore[no-any-return]


def _rows(fields: Mapping[str, Any], grid: bool) -> List[_Swept]:
    columns = [(name, *places_of(_listed(values))) for name, values in fields.items()]
    lengths = [len(places) for _, _, places in columns]
    if not grid:
        if len(set(lengths)) > 1:
            raise RequestError([Problem(name, f"has {len(places)} values, and others do not")
                                for name, _, places in columns])
        return columns
    empty = [Problem(name, "has no value") for (name, _, places) in columns if len(places) == 0]
    if empty:
        raise RequestError(empty)
    out: List[_Swept] = []
    for i, (name, texts, places) in enumerate(columns):
        inner = int(numpy.prod(lengths[i + 1:], dtype=numpy.int64))
        outer = int(numpy.prod(lengths[:i], dtype=numpy.int64))
        out.append((name, texts, numpy.tile(numpy.repeat(places, inner), outer)))
    return out


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _listed(values: Any) -> Any:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        return [values]
    return values if isinstance(values, numpy.ndarray) else list(values)


def _work(request: str, swept: List[_Swept], threads: int = 0,
          progress: _ask.Progress = None) -> Table:
    with _ask.told(progress) as listener:
        kept = [(_flag(name), texts, numpy.ascontiguousarray(places, dtype=numpy.uint32))
                for name, texts, places in swept]
        problems, columns, problem, sentences = _engine.sweep(
            request, [(name, texts, places.__array_interface__["data"][0], len(places))
                      for name, texts, places in kept], threads, listener)
    if problems:
        raise RequestError(_ask.problems_of(problems))
    out: Dict[str, Column] = {name: _values(texts, places) for name, texts, places in swept}
    out.update((name, held(column)) for name, column in columns.items())
    out["fits"] = out["fits"] == 1  # type: ignore[assignment]
    out["problem"] = numpy.array(sentences, dtype=object)[held(problem, "<u4")].tolist()
    return Table(out)


def _values(texts: List[str], places: "numpy.ndarray[Any, Any]") -> Column:
    """As numbers where all are."""
    numbers: Optional[List[Any]] = None
    for kind in (int, float):
        try:
            numbers = [kind(text) for text in texts]
            break
        except ValueError:
            continue
    if numbers is not None:
        column: "numpy.ndarray[Any, Any]" = numpy.array(numbers)[places]
        return column
    return [texts[place] for place in places.tolist()]
