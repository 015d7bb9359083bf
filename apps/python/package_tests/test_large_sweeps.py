"""Files of large sweeps: the same rows in Parquet and SQLite, read by others, at about 16 bytes a row."""
import os
import pathlib
import sqlite3
import subprocess
import sys

import headway as hw
import numpy
import pytest

RUN = dict(model="llama-2-70b", cluster="dgx-h100")
ROWS = 50_000
COMPACT = ["gpus", "tp", "pp", "global_batch", "seq", "step_time_s", "mfu", "memory_bytes.total", "fits", "problem"]


@pytest.fixture(scope="module")
def table():
    draw = numpy.random.default_rng(1)
    return hw.sweep(RUN, {"gpus": draw.choice([64, 128, 256, 512], ROWS), "tp": draw.choice([1, 2, 4, 8], ROWS),
                          "pp": draw.choice([1, 2, 3], ROWS), "global_batch": draw.choice([512, 1024], ROWS),
                          "seq": draw.choice(numpy.arange(1024, 9216, 64), ROWS)}, grid=False)


def test_compact_has_seven_digits_of_the_same_numbers_in_the_order_that_is_documented(table):
    compact = table.compact()
    assert list(compact) == COMPACT and compact.rows == table.rows
    assert numpy.array_equal(compact["tp"], table["tp"]) and compact["problem"] == table["problem"]
    for name in ("step_time_s", "mfu", "memory_bytes.total"):
        assert compact[name].dtype == numpy.float32
        assert numpy.allclose(compact[name], table[name], rtol=6e-8, atol=0, equal_nan=True)
    assert numpy.isnan(table["step_time_s"]).any() and numpy.isfinite(table["step_time_s"]).any()


def test_a_compact_row_of_parquet_is_16_bytes(table, tmp_path):
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "sweep.parquet")
    table.compact().to_parquet(path)
    assert os.listdir(tmp_path) == ["sweep.parquet"]
    assert os.path.getsize(path) <= 16 * ROWS


def test_duckdb_reads_parquet_and_tables_as_they_lie_and_sqlite_has_the_same(table, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    swept, parquet, sqlite = table, str(tmp_path / "sweep.parquet"), str(tmp_path / "sweep.sqlite")
    table.to_parquet(parquet)
    table.to_sqlite(sqlite)
    best = "SELECT gpus, min(step_time_s) AS best, count(*) AS rows FROM {} WHERE fits GROUP BY gpus ORDER BY gpus"
    found = duckdb.sql(best.format(f"'{parquet}'")).fetchall()
    assert duckdb.sql(best.format("swept")).fetchall() == found  # the columns as they lie in memory
    with sqlite3.connect(sqlite) as file:
        assert file.execute(best.format("sweep")).fetchall() == found
    for gpus, time, rows in found:  # what NumPy finds
        of = (table["gpus"] == gpus) & table["fits"]
        assert rows == of.sum() and time == table["step_time_s"][of].min()
    assert len(found) >= 3


def test_sqlite_has_the_columns_in_order_and_no_numbers_where_there_is_no_forecast(table, tmp_path):
    path = str(tmp_path / "sweep.sqlite")
    table.compact().to_sqlite(path, name="runs")
    with sqlite3.connect(path) as file:
        assert [row[1] for row in file.execute("PRAGMA table_info(runs)")] == COMPACT
        assert [row[2] for row in file.execute("PRAGMA table_info(runs)")] == (
            ["INTEGER"] * 5 + ["REAL"] * 3 + ["INTEGER", "TEXT"])
        rows = file.execute("SELECT * FROM runs").fetchall()
    assert len(rows) == ROWS
    for i in range(0, ROWS, 997):
        assert rows[i][:5] == tuple(int(table[name][i]) for name in COMPACT[:5])
        if table["problem"][i]:
            assert rows[i][5] is None and rows[i][9] == table["problem"][i]
        else:
            assert rows[i][5] == numpy.float32(table["step_time_s"][i])


def test_the_example_answers(tmp_path):
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    example = pathlib.Path(__file__).parents[3] / "examples" / "large_sweep.py"
    shown = subprocess.run([sys.executable, example, "2000"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert all(f"│ {gpus} " in shown or f"{gpus} │" in shown for gpus in (64, 128, 256, 512))
    assert {"sweep.parquet", "sweep.sqlite"} == set(os.listdir(tmp_path))
