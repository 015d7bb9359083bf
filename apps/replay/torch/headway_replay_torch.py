#!/usr/bin/env python3
"""Runs the lists of `headway replay` by torch.distributed: gloo on processors, NCCL on GPUs.

    headway_replay_torch.py LIST.jsonl --backend gloo --record DIR     # starts the ranks itself
    torchrun --nproc-per-node 8 headway_replay_torch.py LIST.jsonl --backend nccl --record DIR
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time

import headway_lists
import headway_recording

WIDTH = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
         "fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8, "fp8_e4m3": 1, "fp8_e5m2": 1, "bool": 1}


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


class Calls:
    """Buffers, groups, and each operation as torch calls it."""

    def __init__(self, torch, dist, header, ranks, rank, device):
        self.torch, self.dist, self.device = torch, dist, device
        self.rank, self.groups = rank, header["groups"]
        self.numbers, self.made = {}, {}
        backend_sums_bf16 = device.type == "cuda"
        self.types = {
            "fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16,
            "bf16": torch.bfloat16 if backend_sums_bf16 else torch.float16,
            "int64": torch.int64, "uint64": torch.int64, "int32": torch.int32,
            "uint32": torch.int32, "int16": torch.float16, "int8": torch.int8}
        for number, (group, stream) in enumerate(headway_lists.keys_of(ranks), 1):
            members = self.groups[group]["ranks"]
            self.numbers[group, stream] = number
            self.made[group, stream] = dist.new_group(members)
        self.buffers = {}

    def number(self, item):
        return self.numbers[headway_lists.key_of(item)]

    def members(self, item):
        return self.groups[item["group"]]["ranks"]

    def memory(self, what, item, elements):
        """What is sent is the same of all; what comes has its own while it comes."""
        dtype = self.types.get(item.get("type", "uint8"), self.torch.uint8)
        kept = self.buffers.setdefault((what, dtype), [])
        for i, buffer in enumerate(kept):
            if buffer.numel() >= elements:
                return kept.pop(i)
        return self.torch.ones(max(1, elements), dtype=dtype, device=self.device)

    def give_back(self, what, buffer):
        self.buffers.setdefault((what, buffer.dtype), []).append(buffer)

    def issue(self, item):
        """The work, what it uses, and the bytes and operation that it comes to: bytes as listed, though
        gloo and NCCL move as much for every rank."""
        dist, group = self.dist, self.made[headway_lists.key_of(item)]
        members = self.members(item)
        count, op = len(members), item["call"]
        width = WIDTH[item.get("type", "uint8")]
        elements = math.ceil(item["bytes"] / width)
        part = math.ceil(elements / count)
        whole = part * count if op in ("all_gather", "reduce_scatter", "all_to_all", "gather",
                                       "scatter") else elements
        sent, got = self.memory("sent", item, whole), self.memory("got", item, whole)
        s, g = sent[:whole], got[:whole]
        done = op
        root = members[item.get("peer", 0)]
        kwargs = {"group": group, "async_op": True}
        if op == "all_reduce":
            work = dist.all_reduce(g, **kwargs)
        elif op == "all_gather":
            work = dist.all_gather(list(g.split(part)), s[:part], **kwargs)
        elif op == "reduce_scatter":
            try:
                work = dist.reduce_scatter(g[:part], list(s.split(part)), **kwargs)
            except RuntimeError:  # gloo of older versions has none; newer ones send an all-reduce
                done = "all_reduce"
                work = dist.all_reduce(g, **kwargs)
            if self.device.type == "cpu":
                done = "all_reduce"
        elif op == "all_to_all":
            work = dist.all_to_all_single(g, s, **kwargs)
        elif op == "broadcast":
            work = dist.broadcast(g, root, **kwargs)
        elif op == "reduce":
            work = dist.reduce(g, root, **kwargs)
        elif op == "gather":
            own = list(g.split(part)) if root == self.rank else None
            work = dist.gather(s[:part], own, root, **kwargs)
        elif op == "scatter":
            own = list(s.split(part)) if root == self.rank else None
            work = dist.scatter(g[:part], own, root, **kwargs)
        elif op == "send":
            work = dist.isend(s, root, group, item.get("tag", 0))
        elif op == "receive":
            work = dist.irecv(g, root, group, item.get("tag", 0))
        else:
            work = dist.barrier(**kwargs)
        return work, (sent, got), elements * width, done

    def release(self, buffers):
        self.give_back("sent", buffers[0])
        self.give_back("got", buffers[1])


class Waited:
    """Some works of gloo (messages, reduce-scatters) say that they are done to who waits alone."""

    def __init__(self, work):
        self.work = work
        self.thread = threading.Thread(target=work.wait, daemon=True)
        self.thread.start()

    def is_completed(self):
        return not self.thread.is_alive()

    def wait(self):
        self.thread.join()


class HostTransport:
    """Where calls are known to be done by asking for it."""

    def __init__(self, calls, recording):
        self.calls, self.recording, self.counts = calls, recording, False

    def _record(self, item, start, size, done, until):
        if self.counts:
            self.recording.call(item, self.calls.number(item), start,
                                time.monotonic_ns() - start, size, until=until, done=done)

    def begin(self, item):
        start = time.monotonic_ns()
        work, buffers, size, done = self.calls.issue(item)
        return item, start, Waited(work), buffers, size, done

    def done(self, handle):
        item, start, work, buffers, size, done = handle
        if not work.is_completed():
            return False
        work.wait()
        self._record(item, start, size, done, True)
        self.calls.release(buffers)
        return True

    def call(self, item):
        start = time.monotonic_ns()
        work, buffers, size, done = self.calls.issue(item)
        work.wait()
        self._record(item, start, size, done, False)
        self.calls.release(buffers)

    def meet(self, group):
        stream = min(stream for (of, stream) in self.calls.made if of == group)
        self.calls.dist.barrier(group=self.calls.made[group, stream])


def host_compute(torch, multiplies):
    matrices = {}

    def product(m, n, k):
        if (m, n, k) not in matrices:
            matrices[m, n, k] = torch.ones(m, k), torch.ones(k, n), torch.empty(m, n)
        return matrices[m, n, k]

    def compute(item, meanwhile):
        if multiplies and "product" in item:
            m, n, k, batch = item["product"]
            a, b, c = product(m, n, k)
            for _ in range(batch):
                torch.mm(a, b, out=c)
                meanwhile()
            return
        end = time.monotonic_ns() + int(item["compute"] * 1e9)
        while True:
            meanwhile()
            if time.monotonic_ns() >= end:
                return

    return compute


def run_host(asked, torch, dist, calls, items, recording):
    sys.setswitchinterval(1e-5)  # who waits for a message gets its turn beside who spins
    transport = HostTransport(calls, recording)
    engine = headway_lists.Engine(items, transport, host_compute(torch, asked.gemm))
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


class DeviceStep:
    """On a GPU the host only hands over: streams wait for each other, as the list says."""

    def __init__(self, asked, torch, calls, items):
        self.asked, self.torch, self.calls, self.items = asked, torch, calls, items
        self.streams, self.matrices = {}, {}
        self.cycles = self._cycles_a_second()

    def _cycles_a_second(self):
        cuda = self.torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda._sleep(10_000_000)
        begin.record()
        cuda._sleep(100_000_000)
        end.record()
        end.synchronize()
        return 100_000_000 / (begin.elapsed_time(end) * 1e-3)

    def _stream(self, item):
        # What is beside streams is in the order of its group and direction: NCCL knows no tags.
        name = (item["stream"], item["group"], item["call"]) if item["stream"] == "beside" \
            else item["stream"]
        if name not in self.streams:
            self.streams[name] = self.torch.cuda.Stream()
        return self.streams[name]

    def _compute(self, item):
        torch = self.torch
        if not (self.asked.gemm and "product" in item):
            return torch.cuda._sleep(int(item["compute"] * self.cycles))
        m, n, k, batch = item["product"]
        if (m, n, k) not in self.matrices:
            half = {"dtype": torch.bfloat16, "device": "cuda"}
            self.matrices[m, n, k] = (torch.ones(m, k, **half), torch.ones(k, n, **half),
                                      torch.empty(m, n, **half))
        a, b, c = self.matrices[m, n, k]
        for _ in range(batch):
            torch.mm(a, b, out=c)

    def run(self):
        """Each call with its events, the bytes and the operation done."""
        cuda = self.torch.cuda
        main, out, ends = cuda.current_stream(), [], []
        for item in self.items:
            if "compute" in item:
                self._compute(item)
            elif "wait" in item:
                main.wait_event(ends[item["wait"]])
            elif "call" in item:
                stream, before = self._stream(item), cuda.Event()
                before.record(main)
                stream.wait_event(before)
                for other in item.get("after", ()):
                    stream.wait_event(ends[other])
                with cuda.stream(stream):
                    begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
                    begin.record()
                    work, buffers, size, done = self.calls.issue(item)
                    work.wait()  # of the stream, not of the host
                    end.record()
                ends.append(end)
                out.append((item, begin, end, buffers, size, done))
                if self.asked.single:
                    end.synchronize()
        return out


def run_device(asked, torch, dist, calls, items, recording):
    step = DeviceStep(asked, torch, calls, items)
    seconds = []
    for i in range(asked.warm + asked.repeat):
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.monotonic_ns()
        zero = torch.cuda.Event(enable_timing=True)
        zero.record()
        made = step.run()
        torch.cuda.synchronize()
        end = time.monotonic_ns()
        for item, first, last, buffers, size, done in made:
            if i >= asked.warm:
                recording.call(item, calls.number(item),
                               begin + int(zero.elapsed_time(first) * 1e6),
                               int(first.elapsed_time(last) * 1e6), size,
                               time=headway_recording.DEVICE, done=done)
            calls.release(buffers)
        if i >= asked.warm:
            recording.step(i - asked.warm, begin)
            seconds.append((end - begin) * 1e-9)
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
    if "RANK" not in os.environ:
        sys.exit(start_ranks(header["ranks"]))
    try:
        import torch
        import torch.distributed as dist
    except ImportError:
        print("headway replay: Python has no torch here: pip install torch", file=sys.stderr)
        sys.exit(2)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if world != header["ranks"]:
        sys.exit(f"headway replay: the list is of {header['ranks']} ranks, {world} were started")
    if asked.backend == "nccl":
        if not torch.cuda.is_available():
            sys.exit("headway replay: torch sees no GPU here, which NCCL needs")
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)) % torch.cuda.device_count())
    meeting = os.environ.get("HEADWAY_MEETING")
    dist.init_process_group(asked.backend, rank=rank, world_size=world,
                            init_method=f"file://{meeting}" if meeting else "env://")
    library = f"torch {torch.__version__}, {asked.backend}"
    recording = headway_recording.Recording(rank, world, library)
    device = torch.device("cuda" if asked.backend == "nccl" else "cpu")
    calls = Calls(torch, dist, header, ranks, rank, device)
    for (group, stream), number in calls.numbers.items():
        if rank in header["groups"][group]["ranks"]:
            recording.group(number, header["groups"][group]["name"],
                            header["groups"][group]["ranks"])
    run = run_device if asked.backend == "nccl" else run_host
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
