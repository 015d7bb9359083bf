#!/usr/bin/env python3
"""Runs the lists of `headway replay` by torch.distributed: gloo on processors, NCCL on GPUs.

    headway_replay_torch.py LIST.jsonl --backend gloo --record DIR     # starts the ranks itself
    torchrun --nproc-per-node 8 headway_replay_torch.py LIST.jsonl --backend nccl --record DIR
    srun -n 8 python3 headway_replay_torch.py LIST.jsonl --backend nccl --record DIR     # mpirun as well
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import headway_calls
import headway_device
import headway_lists
import headway_place
import headway_recording
import record_file


def arguments():
    parser = argparse.ArgumentParser(description="runs a list of headway replay by torch")
    parser.add_argument("list")
    parser.add_argument("--backend", choices=["gloo", "nccl"], default="gloo")
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--gemm", action="store_true")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--warm", type=int, default=3)
    parser.add_argument("--times")
    parser.add_argument("--record", required=True, metavar="DIR")
    asked = parser.parse_args()
    if asked.repeat < 1 or asked.warm < 0:
        parser.error("--repeat must be at least 1, --warm at least 0")
    return asked


def refuse(problem):
    print(f"headway replay: {problem}", file=sys.stderr)
    sys.exit(2)


def start_ranks(world):
    """Itself once a rank; they meet in a file."""
    with tempfile.TemporaryDirectory(prefix="headway-replay-") as folder:
        meeting = os.path.join(folder, "meeting")
        started = []
        for rank in range(world):
            own = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank),
                       HEADWAY_MEETING=meeting)
            own.setdefault("OMP_NUM_THREADS", "1")
            started.append(subprocess.Popen([sys.executable] + sys.argv, env=own))
        code = 0
        waiting = list(started)
        while waiting:
            for process in list(waiting):
                ended = process.poll()
                if ended is None:
                    continue
                waiting.remove(process)
                if ended != 0 and code == 0:
                    code = ended if ended > 0 else 1
                    for other in waiting:  # they would wait for it
                        other.terminate()
            time.sleep(0.02)
        return code


class Waited:
    """Some works of gloo (messages, reduce-scatters) say that they are done to who waits alone.
    `some_done` is told."""

    def __init__(self, work, some_done):
        self.work, self.some_done, self.error, self.at = work, some_done, None, None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        try:
            self.work.wait()
        except RuntimeError as error:
            self.error = error
        self.at = time.monotonic_ns()
        self.some_done.set()

    def is_completed(self):
        if self.error:
            raise self.error
        return self.at is not None


class HostTransport:
    """Where calls are known to be done by asking for it."""

    def __init__(self, calls, recording):
        self.calls, self.recording, self.counts = calls, recording, False
        self.some_done = threading.Event()

    def _record(self, item, start, end, size, done, time_of):
        if self.counts:
            self.recording.call(item, self.calls.number(item), start, end - start, size, time_of, done)

    def begin(self, item):
        start = time.monotonic_ns()
        work, buffers, size, done = self.calls.issue(item)
        return item, start, Waited(work, self.some_done), buffers, size, done

    def done(self, handle):
        item, start, work, buffers, size, done = handle
        if not work.is_completed():
            return False
        self._record(item, start, work.at, size, done, record_file.STREAM)
        self.calls.release(buffers)
        return True

    def call(self, item):
        start = time.monotonic_ns()
        work, buffers, size, done = self.calls.issue(item)
        work.wait()
        self._record(item, start, time.monotonic_ns(), size, done, record_file.HOST)
        self.calls.release(buffers)

    def meet(self, group):
        self.calls.meet(group)

    def pause(self, seconds):
        self.some_done.wait(seconds)
        self.some_done.clear()


def host_products(torch):
    matrices = {}

    def multiply(product, meanwhile):
        m, n, k, batch = product
        if (m, n, k) not in matrices:
            matrices[m, n, k] = torch.ones(m, k), torch.ones(k, n), torch.empty(m, n)
        a, b, c = matrices[m, n, k]
        for _ in range(batch):
            torch.mm(a, b, out=c)
            meanwhile()

    return multiply


def run_host(asked, torch, dist, calls, items, recording):
    transport = HostTransport(calls, recording)
    engine = headway_lists.Engine(items, transport,
                                  host_products(torch) if asked.gemm else None)
    seconds = []
    for i in range(asked.warm + asked.repeat):
        transport.counts = i >= asked.warm
        dist.barrier()
        begin = time.monotonic_ns()
        if transport.counts:
            recording.step(i - asked.warm, begin)
        engine.single() if asked.single else engine.step()
        if transport.counts:
            seconds.append((time.monotonic_ns() - begin) * 1e-9)
    return seconds


def write_times(asked, world, library, seconds):
    os.makedirs(os.path.dirname(asked.times) or ".", exist_ok=True)
    with open(asked.times, "w", encoding="utf-8") as file:
        json.dump({"headway_replay": 1, "mode": "single" if asked.single else "step",
                   "compute": "gemm" if asked.gemm else "spin", "ranks": world,
                   "library": library, "warm": asked.warm, "step_s": seconds}, file)
        file.write("\n")


def main():
    asked = arguments()
    try:
        header, ranks = headway_lists.read_list(asked.list)
    except (OSError, ValueError, KeyError, headway_lists.ListError) as problem:
        sys.exit(f"headway replay: {problem}")
    try:
        place = headway_place.place_of(os.environ, header["ranks"])
    except headway_place.PlaceError as problem:
        refuse(problem)
    if place is None:
        sys.exit(start_ranks(header["ranks"]))
    own_file = headway_recording.path_in(asked.record, place.rank)
    if os.path.exists(own_file):
        refuse(f"{own_file} is there: a replay stands alone; name another folder")
    try:
        import torch
        import torch.distributed as dist
    except ImportError:
        refuse("Python has no torch here: pip install torch")
    rank, world = place.rank, place.ranks
    if asked.backend == "nccl":
        if not torch.cuda.is_available():
            sys.exit("headway replay: torch sees no GPU here, which NCCL needs")
        torch.cuda.set_device(place.local % torch.cuda.device_count())
    dist.init_process_group(asked.backend, rank=rank, world_size=world,
                            init_method=headway_place.meeting_of(os.environ, asked.record))
    library = f"torch {torch.__version__}, {asked.backend}"
    recording = headway_recording.Recording(rank, world, library)
    device = torch.device("cuda" if asked.backend == "nccl" else "cpu")
    calls = headway_calls.Calls(torch, dist, header, ranks, rank, device)
    for (group, stream), number in calls.numbers.items():
        if rank in header["groups"][group]["ranks"]:
            recording.group(number, header["groups"][group]["name"],
                            header["groups"][group]["ranks"])
    run = headway_device.run_device if asked.backend == "nccl" else run_host
    seconds = torch.tensor(run(asked, torch, dist, calls, ranks[rank], recording),
                           dtype=torch.float64, device=device)
    dist.all_reduce(seconds, op=dist.ReduceOp.MAX)
    os.makedirs(asked.record, exist_ok=True)
    recording.write(asked.record)
    if rank == 0 and asked.times:
        write_times(asked, world, library, seconds.tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
