#!/usr/bin/env python3
"""Programs of NCCL and of torch on real GPUs, with and without the recorders: the programs give the same, and what is
in the recordings is what they asked for, with the times that their own events found.

    real_gpu.py HEADWAY PROGRAM [PART...]      run by scripts/check-gpu, which builds PROGRAM
    real_gpu.py --ranks N FOLDER COMMAND...    a launcher of the above

PART: nccl (a program of NCCL), replay, and of torch ddp, fsdp2, pp; all if none is named. One GPU is enough: ranks share it as if each were on a machine of its own, over sockets (slow, and what the recorder
adds is the same). Ends with "N passed, N failed"; 1 if any failed.
"""
import collections
import itertools
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import real_torch  # noqa: E402
import recording  # noqa: E402
from real_torch import check  # noqa: E402

RANKS = 2
PARTS = ("nccl", "replay", "ddp", "fsdp2", "pp")
DEVICE_TIME = 1  # of a record: what its time is
WAYS = {"calls": [], "calls without times": ["--device-times", "off"], "plugin": ["--nccl", "plugin"],
        "plugin with times": ["--nccl", "plugin", "--device-times", "on"]}


def devices():
    out = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True).stdout
    return out.count("\n") or sys.exit("no GPU is seen here: nothing was tested")


def launch(ranks, folder, command):
    """A process a rank, as torchrun starts them; ranks of one GPU believe to be of several machines."""
    count, running = devices(), []
    for rank in range(ranks):
        place = {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank % count, "LOCAL_WORLD_SIZE": ranks,
                 "NCCL_HOSTID": f"machine{rank // count}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": 1}
        words = [word.format(rank=rank, device=rank % count) for word in command]
        running.append(subprocess.Popen(words, env=os.environ | {k: str(v) for k, v in place.items()},
                                        stdout=open(f"{folder}/rank{rank}", "w")))
    return max(process.wait() for process in running)


def said_by(words, seconds, **more):
    """What a command says; it ends with all that it started where it takes too long."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **more)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        err += f"ended after {seconds} s"
    return subprocess.CompletedProcess(words, process.returncode, out, err)


class Ran:
    """The program of NCCL on some ranks, recorded in one way or not at all."""

    def __init__(self, headway, program, ranks, way=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-gpu-"))
        words = [sys.executable, __file__, "--ranks", str(ranks), str(self.folder), program, "{rank}", str(ranks),
                 "{device}", str(self.folder / "id")]
        if way:
            words = [headway, "record", *WAYS[way], "-o", str(self.folder / "recording"), "--", *words]
        done = said_by(words, 60)
        self.code, self.err = done.returncode, done.stderr
        said = [(self.folder / f"rank{rank}").read_text().split("\n") for rank in range(ranks)]
        self.results = [[line for line in rank if line.startswith("result")] for rank in said]
        self.calls = {(words[1], int(words[2])): (int(words[3]), [float(us) for us in words[4:]])
                      for words in map(str.split, said[0]) if words[:1] == ["call"]}
        self.host_ns = [float(words[1]) for rank in said for words in map(str.split, rank) if words[:1] == ["host"]]
        self.nccl = [words[1] for words in map(str.split, said[0]) if words[:1] == ["nccl"]]
        self.ranks = recording.read(self.folder / "recording") if way else {}
        if self.code or "warn" in self.err.lower():
            print(self.err[-2000:])

    def by_call(self, rank):
        out = collections.defaultdict(list)
        for call in self.ranks[rank].calls:
            out[call.op, call.size].append(call)
        return out


def check_times(way, ran):
    """The device's times of the recorder beside those of the program's own events around the same calls, which stand
    outside the recorder's and hence are a little longer. What ranks that share a GPU wait for each other's turn is in
    both."""
    print(f"  {'call':16} {'bytes':>10} {'program us':>11} {'recorded us':>11}   medians; the longest difference")
    by_call = ran.by_call(0)
    for (op, size), (_, own_us) in ran.calls.items():
        calls = by_call[op, size][-len(own_us):]
        check(f"{way} {op} {size}: has times of the device", {DEVICE_TIME}, {call.time[0] for call in calls})
        found = [call.time[1] / 1e3 for call in calls]
        off = [own - us for own, us in zip(own_us, found)]
        print(f"  {op:16} {size:10} {statistics.median(own_us):11.1f} {statistics.median(found):11.1f} {max(off, key=abs):8.1f}")
        check(f"{way} {op} {size}: each as the program's events have it, to 20 us ({own_us}, {found})", True,
              all(-1 <= difference <= 20 for difference in off))


def check_ranks(headway, program, ranks):
    alone = [Ran(headway, program, ranks) for _ in range(2)]
    check(f"{ranks} ranks alone: exit code, results twice", (0, 0, alone[0].results),
          (alone[0].code, alone[1].code, alone[1].results))
    if alone[0].code:
        return
    print(f"{ranks} ranks, NCCL {alone[0].nccl}; host ns a call alone: {[run.host_ns for run in alone]}")
    for way in WAYS:
        ran = Ran(headway, program, ranks, way)
        check(f"{ranks} ranks, {way}: exit code", 0, ran.code)
        check(f"{ranks} ranks, {way}: results", alone[0].results, ran.results)
        print(f"{ranks} ranks, {way}: host ns a call {ran.host_ns}; calls "
              f"{[len(rank.calls) for rank in ran.ranks.values()]}, lost {[rank.lost for rank in ran.ranks.values()]}")
        check(f"{ranks} ranks, {way}: files", list(range(ranks)), sorted(ran.ranks))
        if len(ran.ranks) < ranks:
            continue
        check(f"{ranks} ranks, {way}: whole, nothing lost", {(True, 0, 0)},
              {(rank.whole, rank.lost, rank.cut) for rank in ran.ranks.values()})
        if way.startswith("calls"):
            check_calls(ranks, way, ran)
        said = subprocess.run([headway, "comms", str(ran.folder / "recording")], capture_output=True, text=True)
        check(f"{ranks} ranks, {way}: comms reads it", 0, said.returncode)
        if ranks > 1 and way != "calls without times":
            print(said.stdout[:3000] + said.stderr[:500])
        shutil.rmtree(ran.folder)


def check_calls(ranks, way, ran):
    for rank in ran.ranks:
        by_call = ran.by_call(rank)
        for (op, size), (count, _) in ran.calls.items():
            check(f"{ranks} ranks, {way}, rank {rank}: {op} of {size}", count, len(by_call[op, size]))
        captured = by_call["all_reduce", 1 << 18]
        check(f"{ranks} ranks, {way}, rank {rank}: captured calls are there, without times", (8, {0}),
              (len(captured), {call.time[1] for call in captured}))
        check(f"{ranks} ranks, {way}, rank {rank}: of a part and alone", (1, 6000),
              (len(by_call["all_reduce", 64]), len(by_call["all_reduce", 16])))
    if way == "calls" and ranks > 1:
        check_times(way, ran)


# ---- torch ----

def torch_ran(headway, mode, recorded):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-gpu-"))
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(real_torch.RANKS), "--master_port",
             "29791", str(HERE / "trainer.py"), mode, str(folder), "nccl"]
    if recorded:
        words = [headway, "record", "-o", str(folder / "recording"), "--", *words]
    path = ":".join(filter(None, [str(HERE.parent / "library"), os.environ.get("PYTHONPATH")]))
    surroundings = dict(os.environ, PYTHONPATH=path, NCCL_SOCKET_IFNAME="lo", NCCL_IB_DISABLE="1",
                        CUBLAS_WORKSPACE_CONFIG=":4096:8", OMP_NUM_THREADS="1")
    done = said_by(words, 60, env=surroundings)
    if done.returncode:
        print(done.stderr[-3000:])
        return done.returncode, [], []
    results = [json.loads((folder / f"{mode}{rank}.json").read_text())["result"] for rank in range(real_torch.RANKS)]
    files = [recording.Rank(path) for path in sorted(folder.glob("recording/**/rank*.hwr"))]
    if recorded:
        print(subprocess.run([headway, "comms", str(folder / "recording")], capture_output=True, text=True).stdout[:1500])
    shutil.rmtree(folder)
    return 0, results, files


def check_torch(headway, mode):
    (code, bare, _), (recorded_code, recorded, files) = torch_ran(headway, mode, False), torch_ran(headway, mode, True)
    check(f"torch {mode}: exit codes", (0, 0), (code, recorded_code))
    if code or recorded_code:
        return
    check(f"torch {mode}: results", bare, recorded)
    for number, step in itertools.product(range(real_torch.RANKS), (2, 3, 4)):
        found = sum((real_torch.tally(rank, step) for rank in files if rank.header["rank"] == number),
                    collections.Counter())
        check(f"torch {mode} {number} step {step}", real_torch.EXPECTED[mode](number), found)
    timed = [call for rank in files for call in rank.calls if call.time[0] == DEVICE_TIME and call.time[1]]
    print(f"torch {mode}: {sum(len(rank.calls) for rank in files)} calls, {len(timed)} with times of the device")
    check(f"torch {mode}: calls have times of the device", True, len(timed) > 0)


# ---- replay ----

def check_replay(headway, parallel):
    """A planned step of two ranks: it ends, and its recording holds the calls of the plan."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-gpu-"))
    run = ["--model", "gpt-neox-19m", "--cluster", "dgx-h100", "--gpus", "2", "--seq", "512", "--global-batch", "8", *parallel]
    for way in ("--single", "--step"):
        compute = ["--compute", "gemm"] if way == "--step" else []
        words = [headway, "replay", *run, "--backend", "nccl", *compute, way, "--repeat", "5", "--warm", "2", "--launcher", f"{HERE / 'real_gpu.py'} --ranks 2 {folder}", "-o", str(folder / way[2:])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        print(" ".join(parallel), way, done.stdout[:2500], done.stderr[-1500:], sep="\n")
        check(f"replay {parallel} {way}: exit code", 0, done.returncode)
        ranks = recording.read(folder / way[2:])
        check(f"replay {parallel} {way}: calls of 5 repeats on each rank, with times of the device", {(True, 0)},
              {(len(rank.calls) > 0 and len(rank.calls) % 5 == 0, sum(not call.time[1] for call in rank.calls))
               for rank in ranks.values()})
    said = subprocess.run([headway, "comms", *run, "--trace", str(folder / "step")], capture_output=True, text=True)
    print(said.stdout[:2500], said.stderr[-800:])
    check(f"replay {parallel}: comms RUN --trace", 0, said.returncode)
    shutil.rmtree(folder)


def main(headway, program, parts):
    devices()
    for part in parts:
        if part == "nccl":
            for ranks in (1, RANKS):
                check_ranks(headway, program, ranks)
        elif part == "replay":
            for parallel in (["--dp", "2"], ["--pp", "2"], ["--tp", "2"]):
                check_replay(headway, parallel)
        else:
            check_torch(headway, part)
    print(f"{real_torch.passed} passed, {real_torch.failed} failed")
    return real_torch.failed > 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--ranks":
        sys.exit(launch(int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or PARTS))
