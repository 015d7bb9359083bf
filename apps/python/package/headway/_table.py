"""Columns of many answers."""
from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple, Union

import numpy

from . import _engine

Column = Union["numpy.ndarray[Any, Any]", List[str]]

#: What compact() keeps of a forecast, in this order, behind the fields and before "problem".
COMPACT = ("step_time_s", "mfu", "memory_bytes.total", "fits")


class Table(Mapping[str, Column]):
    """Columns of one length by name: NumPy arrays of numbers, which are not copied, or lists of text.
    pyarrow.table(t), polars.DataFrame(t), duckdb and pandas read it as it is.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Table) and list(self) == list(other) and
                all(_same(self[name], other[name]) for name in self))

    __hash__ = None  # type: ignore[assignment]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Of the Arrow PyCapsule interface; numbers are float64, texts large strings."""
        values: List[Any] = [column if isinstance(column, list) else _place_of(column)
                             for column in self._columns.values()]
        return _engine.arrow_stream(list(self._columns), values, self.rows)

    def to_dict(self) -> Dict[str, List[Any]]:
        return {name: list(column) for name, column in self._columns.items()}

    def to_frame(self) -> Any:
        """A pandas.DataFrame; it shares the numbers."""
        import pandas
        return pandas.DataFrame(self._columns, copy=False)

    def compact(self) -> Table:
        """Of a sweep: its fields, then step_time_s, mfu, memory_bytes.total, fits, and problem, the forecast's
        numbers in seven digits (float32). As Parquet about 16 bytes a row."""
        names = list(self._columns)
        kept = (*names[:names.index("step_time_s")], *COMPACT, "problem")
        return Table({name: _in_seven_digits(self._columns[name]) for name in kept})

    def to_parquet(self, path: str) -> None:
        """Writes the columns as they are ordered here, packed by zstd. By pyarrow."""
        import pyarrow
        import pyarrow.parquet
        table = pyarrow.table(self._columns)
        measured = [field.name for field in table.schema if pyarrow.types.is_floating(field.type)]
        others = [name for name in self._columns if name not in measured]
        # Places among few values take bits; numbers that all differ pack by their bytes' places.
        pyarrow.parquet.write_table(table, path + ".part", compression="zstd", use_dictionary=others,
                                    use_byte_stream_split=measured)
        os.replace(path + ".part", path)

    def to_sqlite(self, path: str, name: str = "sweep") -> None:
        """Writes the columns as they are ordered here as a table of a new SQLite file; NaN is NULL."""
        columns = ", ".join(f"{_quoted(each)} {_sqlite_type(column)}" for each, column in self._columns.items())
        values = [column if isinstance(column, list) else column.tolist() for column in self._columns.values()]
        part = path + ".part"
        if os.path.exists(part):
            os.remove(part)
        with closing(sqlite3.connect(part)) as file:
            file.execute(f"CREATE TABLE {_quoted(name)} ({columns})")
            places = ", ".join("?" * len(values))
            file.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", zip(*values))
            file.commit()
        os.replace(part, path)

    def __repr__(self) -> str:
        return f"<headway.Table: {self.rows} rows of {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))


class _Held:
    """Numbers of the engine's, shown to NumPy as they lie."""

    def __init__(self, column: Tuple[int, int, object], kind: str) -> None:
        address, length, self._owner = column
        self.__array_interface__ = {"data": (address, True), "shape": (length,), "typestr": kind, "version": 3}


def held(column: Tuple[int, int, object], kind: str = "<f8") -> "numpy.ndarray[Any, Any]":
    return numpy.asarray(_Held(column, kind))


def _place_of(column: "numpy.ndarray[Any, Any]") -> Tuple[int, object]:
    numbers = numpy.ascontiguousarray(column, dtype=float)
    return numbers.__array_interface__["data"][0], numbers


def _in_seven_digits(column: Column) -> Column:
    return column if isinstance(column, list) or column.dtype != float else column.astype(numpy.float32)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sqlite_type(column: Column) -> str:
    return "TEXT" if isinstance(column, list) else "REAL" if column.dtype.kind == "f" else "INTEGER"


def _same(one: Column, other: Column) -> bool:
    if isinstance(one, list) or isinstance(other, list):
        return one == other
    return bool(numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def joined(tables: Sequence[Table]) -> Table:
    """The rows of all, one behind the other."""
    first = tables[0]
    out: Dict[str, Column] = {}
    for name in first:
        parts = [table[name] for table in tables]
        out[name] = ([text for part in parts for text in part] if isinstance(parts[0], list)
                     else numpy.concatenate(parts))
    return Table(out)


def places_of(values: Sequence[Any]) -> Tuple[List[str], "numpy.ndarray[Any, Any]"]:
    """Each different value once, as the text of a field, and which of them each row has."""
    if isinstance(values, numpy.ndarray) and values.dtype.kind in "iufb":
        different, which = numpy.unique(values, return_inverse=True)
        texts = [_text(each) for each in different.tolist()]
        return texts, which.astype(numpy.uint32)
    seen: Dict[str, int] = {}
    which = numpy.fromiter((seen.setdefault(_text(each), len(seen)) for each in values),
                           dtype=numpy.uint32, count=len(values))
    return list(seen), which


def _text(value: Any) -> str:
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, numpy.floating)):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
    return str(value)
