"""Whoever does the work of a sweep, the answer is the same."""
import os
import subprocess
import sys

import headway as hw
import pytest

RUN = dict(model="llama-2-7b", cluster="dgx-h100", seq=4096, global_batch=64)
GRID = {"gpus": [8, 16, 32], "tp": [1, 2, 3], "pp": [1, 2]}


@pytest.fixture(scope="module")
def whole():
    return hw.sweep(RUN, GRID, threads=1)


def test_dask(whole):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert hw.sweep(RUN, GRID, executor=client.get_executor(), chunk=5) == whole
            assert hw.sweep(RUN, GRID, executor=client, chunk=7) == whole


def test_ray(whole):
    ray = pytest.importorskip("ray")
    from ray.util.multiprocessing import Pool
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with Pool(2) as pool:
            assert hw.sweep(RUN, GRID, executor=pool, chunk=5) == whole
    finally:
        ray.shutdown()


def test_mpi4py_futures(whole, tmp_path):
    pytest.importorskip("mpi4py")
    script = tmp_path / "by_ranks.py"
    script.write_text(f"""
import pickle
import headway as hw
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        assert executor.num_workers == 2
        table = hw.sweep({RUN!r}, {GRID!r}, executor=executor, chunk=5)
    with open({str(tmp_path / "table")!r}, "wb") as file:
        pickle.dump(table, file)
""")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m",
                    "mpi4py.futures", str(script)], check=True, timeout=300, env=own)
    import pickle
    assert pickle.loads((tmp_path / "table").read_bytes()) == whole


def test_a_pool_of_multiprocessing(whole):
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert hw.sweep(RUN, GRID, executor=pool, chunk=5) == whole


def test_what_is_wrong_in_a_part_is_told():
    import concurrent.futures
    with concurrent.futures.ProcessPoolExecutor(1) as processes:
        with pytest.raises(hw.RequestError, match="is no field"):
            hw.sweep(RUN, {"sequence": [1, 2]}, executor=processes, chunk=1)
