"""Sweeps: each row is the forecast that predict gives, however the work is divided."""
import concurrent.futures
import math

import headway as hw
import numpy
import pytest

GRID = {"gpus": [16, 32], "tp": [1, 2, 16, 3], "seq": numpy.array([2048, 4096])}


@pytest.fixture
def base(run):
    return {name: value for name, value in run.items() if name not in GRID}


def test_each_row_is_what_predict_gives(base):
    table = hw.sweep(base, GRID)
    assert table.rows == 2 * 4 * 2
    assert list(table["gpus"]) == sorted(table["gpus"])  # the last field changes fastest
    for i in range(table.rows):
        fields = dict(base, gpus=int(table["gpus"][i]), tp=int(table["tp"][i]), seq=int(table["seq"][i]))
        try:
            step = hw.predict(**fields)
        except hw.RequestError as refused:
            assert math.isnan(table["step_time_s"][i])
            assert table["problem"][i] == "; ".join(map(str, refused.problems))
            continue
        assert table["problem"][i] == ""
        assert table["step_time_s"][i] == step.step_time_s
        assert table["parts_s.compute"][i] == step.parts_s.compute
        assert table["memory_bytes.total"][i] == step.memory_bytes.total
        assert table["fits"][i] == step.fits
        low, high = step.interval_step_time_s
        assert table["interval_step_time_s.low"][i] == low
        assert table["interval_step_time_s.high"][i] == high


def test_the_answer_is_the_same_however_the_work_is_divided(base):
    whole = hw.sweep(base, GRID, threads=1)
    assert hw.sweep(base, GRID, threads=2) == whole
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        assert hw.sweep(base, GRID, executor=threads, chunk=3) == whole
    with concurrent.futures.ProcessPoolExecutor(2) as processes:
        assert hw.sweep(base, GRID, executor=processes, chunk=5) == whole


def test_together_or_every_combination(base):
    pairs = hw.sweep(base, {"gpus": [16, 32], "seq": [2048, 4096]}, grid=False)
    assert list(pairs["gpus"]) == [16, 32] and list(pairs["seq"]) == [2048, 4096]
    with pytest.raises(hw.RequestError, match="values"):
        hw.sweep(base, {"gpus": [16, 32], "seq": [2048]}, grid=False)


def test_sweeps_begin_from_a_forecast_and_take_names(run):
    step = hw.predict(**run)
    table = hw.sweep(step, {"cluster": ["dgx-h100", "dgx-a100-80gb", "nowhere"]})
    assert table["cluster"] == ["dgx-h100", "dgx-a100-80gb", "nowhere"]
    assert table["step_time_s"][0] == step.step_time_s < table["step_time_s"][1]
    assert "nowhere" in table["problem"][2]


def test_what_is_no_field_is_refused(base):
    with pytest.raises(hw.RequestError, match="is no field"):
        hw.sweep(base, {"sequence": [1]})
    with pytest.raises(hw.RequestError, match="not a known field"):
        hw.sweep(dict(base, sequence=1), {"tp": [1]})


def test_columns_are_not_copied_for_readers_of_arrow(base):
    pyarrow = pytest.importorskip("pyarrow")
    table = hw.sweep(base, GRID)
    read = pyarrow.table(table)
    assert read.column_names == list(table)
    column = read["step_time_s"].chunk(0)
    assert column.buffers()[1].address == table["step_time_s"].__array_interface__["data"][0]
    assert read["problem"].to_pylist() == table["problem"]
    del table
    assert numpy.isfinite(numpy.array(column)).any()  # the reader keeps them alive


def test_tables_are_written_as_parquet(base, tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet
    table = hw.sweep(base, GRID)
    table.to_parquet(str(tmp_path / "sweep.parquet"))
    read = pyarrow.parquet.read_table(tmp_path / "sweep.parquet")
    assert read.num_rows == table.rows and read.column_names == list(table)


def test_numbers_of_columns_cannot_be_written_to(base):
    with pytest.raises(ValueError):
        hw.sweep(base, GRID)["step_time_s"][0] = 1
