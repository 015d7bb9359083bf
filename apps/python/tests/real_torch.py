#!/usr/bin/env python3
"""Four ranks of real programs of torch.distributed over gloo, recorded by `headway record`: what is in the
recording is what the programs asked for, and what went over the wire.

    real_torch.py HEADWAY [TRUTH [MODE...]]      with a Python that has torch, 1.13 or later

TRUTH (- for none): a folder with ddp, fsdp2 and pp in it, each with a truth.json: the calls of every step as torch's
dispatcher saw them in another run. Without it what the programs' sources say is compared alone.
Ends with "N passed, N failed"; 1 if any failed.
"""
import collections
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import recording  # noqa: E402

try:
    import torch
except ImportError:
    sys.exit("torch is not here: nothing was tested")

RANKS, PORT = 4, "29778"
BLOCK, OUTSIDE = 1_774_464, 768_768  # parameters of a layer; of embedding, last norm and head
PARAMETERS = 4 * BLOCK + OUTSIDE
NEW = hasattr(torch._C._distributed_c10d.ProcessGroup, "register_pre_hook")

passed = failed = 0


def check(claim, expected, found):
    global passed, failed
    if expected == found:
        passed += 1
        return
    failed += 1
    print(f"FAILED: {claim}\n  expected {expected}\n  found    {found}")


def near(claim, expected, found, share):
    global passed, failed
    off = abs(found / expected - 1)
    passed, failed = passed + (off <= share), failed + (off > share)
    print(f"{'FAILED: ' if off > share else ''}{claim}: {found:,.0f}, expected {expected:,.0f} ({off:.3%})")


class Ran:
    """One mode of the trainer, with the recorder or without."""

    def __init__(self, folder, mode, wire, headway=None, flags=()):
        folder.mkdir()
        start = ["-m", "torch.distributed.run", "--nproc_per_node", str(RANKS), "--master_port", PORT] \
            if NEW else [str(HERE / "launch.py"), str(RANKS), PORT]
        launch = [sys.executable, *start, str(HERE / "trainer.py"), mode, str(folder)]
        if headway:
            launch = [headway, "record", *flags, "-o", str(folder / "recording"), "--"] + launch
        path = ":".join(filter(None, [str(HERE.parent / "library"), ENVIRONMENT.get("PYTHONPATH")]))
        done = subprocess.run(launch, env={**ENVIRONMENT, "LD_PRELOAD": str(wire), "PYTHONPATH": path},
                              capture_output=True, text=True)
        self.code, self.err = done.returncode, done.stderr
        if self.code:
            print(self.err[-3000:])
        self.said = [json.loads((folder / f"{mode}{rank}.json").read_text()) for rank in range(RANKS)] \
            if self.code == 0 else []
        self.ranks = recording.read(folder / "recording") if headway else {}


def tally(rank, step):
    """(operation, bytes, type) -> how many, of a step of a rank."""
    return collections.Counter((call.op, call.size, call.element) for call in rank.calls if call.step == step)


def on_the_wire(rank, step):
    """What one rank sends, by rings, of the operations as they were done."""
    share = (RANKS - 1) / RANKS
    by = {"all_reduce": 2 * share, "all_gather": share, "reduce_scatter": share, "send": 1, "receive": 0}
    return sum(by[call.done] * call.size for call in rank.calls if call.step == step)


# ---- what truth.json says ----

def of_truth(calls, size):
    out = collections.Counter()
    for call in calls:
        kind = call["op"].split(".")[1]
        ins, outs = call["tensor_bytes"][-1], call["tensor_bytes"][0]
        op, whole = {"allreduce_": ("all_reduce", ins), "broadcast_": ("broadcast", ins),
                     "_allgather_base_": ("all_gather", outs),
                     "_reduce_scatter_base_": ("reduce_scatter", ins),
                     "send": ("send", ins), "recv_": ("receive", ins)}[kind]
        out[op, whole, call["dtype"]] += call["count"]
    return out


# ---- what the sources say ----

def f32(numbers):
    return 4 * numbers


def ddp_step(_):
    # In the order of the gradients: the head alone fills the first bucket of 1 MiB, then 25 MiB.
    head, last = f32(384_000), 3_313_152
    return collections.Counter({("all_reduce", head, "float32"): 1, ("all_reduce", last, "float32"): 1,
                                ("all_reduce", f32(PARAMETERS) - head - last, "float32"): 1})


def fsdp2_step(_):
    return collections.Counter({
        ("all_gather", f32(BLOCK), "float32"): 8, ("all_gather", f32(OUTSIDE), "float32"): 1,
        ("reduce_scatter", f32(BLOCK), "float32"): 4, ("reduce_scatter", f32(OUTSIDE), "float32"): 1,
        ("all_reduce", f32(68), "float32"): 1})  # the norms of 68 parameters


def pp_step(rank):
    activation, out = f32(64 * 384), collections.Counter()
    for there in (rank - 1, rank + 1):
        if 0 <= there < RANKS:
            out["send", activation, "float32"] += 8
            out["receive", activation, "float32"] += 8
    return out


def messages_step(rank):
    activation, out = f32(64 * 384), collections.Counter()
    if rank > 0:
        out["receive", activation, "float32"] = 8
    if rank + 1 < RANKS:
        out["send", activation, "float32"] = 8
    return out


EXPECTED = {"ddp": ddp_step, "fsdp2": fsdp2_step, "pp": pp_step, "messages": messages_step}


def check_both(headway, folder, wire, mode):
    """Recorded and bare: the program gives the same, and the files are whole."""
    bare = Ran(folder / f"{mode}-bare", mode, wire)
    ran = Ran(folder / mode, mode, wire, headway)
    check(f"{mode}: exit codes", (0, 0), (bare.code, ran.code))
    if bare.code or ran.code:
        return None
    check(f"{mode}: results", [said["result"] for said in bare.said], [said["result"] for said in ran.said])
    check(f"{mode}: files", list(range(RANKS)), sorted(ran.ranks))
    for number, rank in ran.ranks.items():
        check(f"{mode} {number}: whole, nothing lost", (True, 0, 0), (rank.whole, rank.lost, rank.cut))
        check(f"{mode} {number}: steps", 5, len(rank.marks))
        check(f"{mode} {number}: world", True, list(range(RANKS)) in rank.groups.values())
    return ran


def check_mode(headway, folder, wire, mode, truth):
    ran = check_both(headway, folder, wire, mode)
    if ran is None:
        return
    for number, rank in ran.ranks.items():
        for step in (2, 3, 4):  # buckets are made anew after the first
            check(f"{mode} {number} step {step}", EXPECTED[mode](number), tally(rank, step))
    if truth:
        check_truth(ran, mode, truth)
    if mode != "messages":
        check("gloo does a reduce-scatter as an all-reduce, and nothing else otherwise than asked",
              [], [call for call in ran.ranks[0].calls
                   if call.done != ("all_reduce" if call.op == "reduce_scatter" else call.op)])
    for step in (2, 3, 4):
        near(f"{mode} step {step}: bytes on the wire of rank 0", on_the_wire(ran.ranks[0], step),
             ran.said[0]["wire"][step], 0.005)


def check_truth(ran, mode, truth):
    said = json.loads((truth / mode / "truth.json").read_text())
    calls = 0
    for number, rank in ran.ranks.items():
        for step in range(5):
            expected = of_truth(said[str(number)][f"step{step}"], RANKS)
            if mode == "fsdp2":  # what its README says that the dispatcher's log misses
                expected["all_reduce", 272, "float32"] += 1
            check(f"{mode} {number} step {step} of the truth", expected, tally(rank, step))
            calls += sum(expected.values())
    print(f"{mode}: {calls} calls of the truth compared")


def check_experts(headway, folder, wire):
    ran = check_both(headway, folder, wire, "experts")
    if ran is None:
        return
    for number, rank in ran.ranks.items():
        for step in range(5):
            sent = ran.said[number]["log"][step]
            expected = [8 * RANKS, f32(384) * sum(sent["to"]), f32(384) * sum(sent["come"])]
            check(f"experts {number} step {step}", [("all_to_all", size) for size in expected],
                  [(call.op, call.size) for call in rank.calls if call.step == step])
            over = sum(f32(384) * (sum(sent[way]) - sent[way][number]) for way in ("to", "come")) + 8 * 3
            if number == 0:
                near(f"experts step {step}: bytes on the wire of rank 0", over,
                     ran.said[0]["wire"][step], 0.005)


def check_filters(headway, folder, wire):
    ran = Ran(folder / "filtered", "messages", wire, headway,
              ["--steps", "1..2", "--ops", "send,wait", "--min-bytes", "1 kB"])
    check("filters: exit code", 0, ran.code)
    for number, rank in ran.ranks.items():
        steps = collections.Counter(call.step for call in rank.calls)
        check(f"filters {number}", {1: 8, 2: 8} if number < 3 else {}, dict(steps))
        check(f"filters {number}: waits", 16 if number < 3 else 0, rank.waits)


def has(module, name):
    try:
        return hasattr(importlib.import_module(module), name)
    except Exception:  # Debian's torch 1.13 has parts that its Python does not take
        return False


def main(headway, truth, asked):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-torch-"))
    wire = folder / "wire.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(wire), str(HERE / "wire.c"), "-ldl"], check=True)
    here = {"ddp": True, "messages": True, "experts": True, "filters": True,
            "fsdp2": has("torch.distributed.fsdp", "fully_shard"),
            "pp": has("torch.distributed.pipelining", "Schedule1F1B")}
    modes = [mode for mode in here if here[mode] and (not asked or mode in asked)]
    print(f"torch {torch.__version__}, {'by its hooks' if NEW else 'by methods and the dispatcher'}: "
          f"{', '.join(modes)}; this torch has no: {', '.join(set(here) - {m for m in here if here[m]}) or '-'}")
    try:
        for mode in modes:
            known = truth if truth and (truth / mode / "truth.json").exists() else None
            if mode == "experts":
                check_experts(headway, folder, wire)
            elif mode == "filters":
                check_filters(headway, folder, wire)
            else:
                check_mode(headway, folder, wire, mode, known)
    finally:
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1")
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    known_truth = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] != "-" else None
    sys.exit(main(os.path.abspath(sys.argv[1]), known_truth, sys.argv[3:]))
