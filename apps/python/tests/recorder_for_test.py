#!/usr/bin/env python3
"""A program of a stand-in for torch, one process a rank: recorder_for_test.py WHAT RANK WORLD. What it asks
for is told in apps/python/python_test.cpp, which has it recorded and reads it with headway's reader."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import stand_in_torch as torch  # noqa: E402


def float32(numbers):
    return torch.Tensor(numbers)


def begin(rank, world):
    folder = os.environ.get("STORE")
    c10d = torch.install(torch.Store(folder) if folder else None)
    import headway.record
    headway.record.start()
    return headway.record, c10d, add_group(c10d, torch.ProcessGroup(rank, world, "gloo"), range(world), True)


def add_group(c10d, group, ranks, is_world=False):
    if is_world:
        c10d.GroupMember.WORLD = group
    c10d._pg_group_ranks[group] = {rank: place for place, rank in enumerate(ranks)}
    return group


def calls(rank, world):
    record, c10d, world_group = begin(rank, world)
    ask = world_group.ask
    pair = add_group(c10d, torch.ProcessGroup(rank % 2, 2, "gloo"), (rank // 2 * 2, rank // 2 * 2 + 1))
    record.step()
    c10d.blocking(ask("ALLREDUCE", torch.Work(), [float32(250)]))
    done = torch.Future()
    ask("REDUCE_SCATTER_BASE", torch.Work(done), [float32(400)], [float32(100)], async_op=True)
    done.mark_done()
    c10d.blocking(ask("ALLGATHER_BASE", torch.Work(), [float32(50)], [float32(200)]))
    c10d.blocking(ask("ALLTOALL_BASE", torch.Work(), [torch.Tensor(10, "torch.int64", 8)],
                      [torch.Tensor(12, "torch.int64", 8)]))
    c10d.blocking(ask("GATHER", torch.Work(), [float32(5)], root=1))
    c10d.blocking(ask("SCATTER", torch.Work(), [], [float32(5)], root=1))
    c10d.blocking(ask("BROADCAST", torch.Work(), [torch.Tensor(3, "torch.bfloat16", 2)], root=2))
    c10d.blocking(ask("BARRIER", torch.Work()))
    record.step()
    message = ask("SEND", torch.Work(), [float32(7)], root=(rank + 1) % world, async_op=True)
    # What came from anyone: from whom says the work.
    c10d.blocking(ask("RECV", torch.Work(source=(rank - 1) % world), [], [float32(7)], async_op=True))
    message.wait()
    ask("SEND", torch.Work(), [float32(1)], root=(rank + 1) % world, async_op=True)  # nobody waits for it
    c10d.blocking(pair.ask("ALLREDUCE", torch.Work(), [float32(1)]))
    pair.ask("ALLREDUCE", torch.Work(), [torch.Tensor(2, device="cuda")])
    ask("SPLIT", None)  # moves nothing
    pair.ask("ALLREDUCE", None, ["no tensor"])  # what goes wrong in the recorder is none of the program's
    print(f"rank {rank} is done")
    return 3


def on_nccl(rank, world):
    """Calls of NCCL on devices, and of the same group on the host, where gloo does them."""
    _, c10d, _ = begin(rank, world)
    group = add_group(c10d, torch.ProcessGroup(rank, world, "cpu:gloo,cuda:nccl"), range(world))
    c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [torch.Tensor(2, device="cuda")]))
    c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(3)]))


def killed(rank, world):
    _, c10d, group = begin(rank, world)
    for _ in range(100):
        c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))
    time.sleep(0.3)
    os.kill(os.getpid(), 9)


def killed_at_once(rank, world):
    _, c10d, group = begin(rank, world)
    for _ in range(100):
        c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))
    os.kill(os.getpid(), 9)


def forked(rank, world):
    _, c10d, group = begin(rank, world)
    for _ in range(10):
        c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))
    child = os.fork()
    if child == 0:
        c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(3)]))
        sys.exit(0)
    os.waitpid(child, 0)
    for _ in range(10):
        c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))


def many(rank, world):
    record, c10d, group = begin(rank, world)
    for step in range(20):
        record.step()
        for _ in range(1000):
            c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))


def limited(rank, world):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    many(rank, world)


def crowded(rank, world):
    """Three calls more than the queue takes while its thread is held up."""
    _, c10d, group = begin(rank, world)
    from headway.record import session, writer
    writer.QUEUE = 100
    with session.current.writer._lock:
        for _ in range(writer.QUEUE + 3):
            c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))


def ranged(rank, world):
    """Steps by ranges of NVTX: the library is asked as NVTX asks it."""
    import ctypes
    _, c10d, group = begin(rank, world)
    push, table = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(), (ctypes.c_void_p * 16)()
    table[9] = ctypes.addressof(push)  # nvtxRangePushA

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def table_of(module, to, size):
        if module != 1:
            return 0
        ctypes.cast(to, ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(table)
        ctypes.cast(size, ctypes.POINTER(ctypes.c_uint))[0] = 16
        return 1

    callbacks = (ctypes.c_void_p * 2)(16, ctypes.cast(table_of, ctypes.c_void_p))
    export = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(lambda _: ctypes.addressof(callbacks))
    assert ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"]).InitializeInjectionNvtx2(export) == 1
    for name in (b"other", b"train step", b"train step", b"train"):
        push(name)
        c10d.blocking(group.ask("ALLREDUCE", torch.Work(), [float32(2)]))


def clock(rank, world):
    """The offsets of the clocks of two ranks of one machine, measured as if they were of two."""
    begin(rank, world)
    time.sleep(0.5)  # rank 0 has to be there to answer


def offset(rank, world):
    from headway.record import clock as of_ranks
    answerer = of_ranks.Answerer()
    stranger = dict(answerer.said(), word="00" * 16)
    print(of_ranks.ask(stranger))
    print(of_ranks.offset_from([(100, 1150, 220), (300, 1345, 380), (500, 9000, 900)]))


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3])))
