"""Four ranks of a small transformer, for the test of the recorder: data parallel (ddp), sharded (fsdp2),
a pipeline (pp), or tokens sent to experts (experts). 4 layers of width 384, 6 heads, 64 tokens, batch
4, vocabulary 1000, fp32: 7,866,624 parameters.

    torchrun --nproc-per-node 4 trainer.py MODE LOGS [nccl]

On the processor over gloo, or over nccl on GPUs, which ranks may share. In LOGS each rank leaves what it knows by itself: bytes on the wire of each step where wire.c is loaded,
and of `experts` what it sent; and the sum of its parameters or results, for a run beside it.
"""
import ctypes
import json
import os
import pathlib
import platform
import sys

import torch
import torch.distributed as dist
from torch import nn

import headway.record

LAYERS, WIDTH, HEADS, TOKENS, BATCH, VOCABULARY, STEPS = 4, 384, 6, 64, 4, 1000, 5
MICRO_BATCHES = 8
DEVICE = torch.device("cpu")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.f1, self.f2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        n = self.n1(x)
        q, k, v = (part(n).view(*n.shape[:2], HEADS, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        scores = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        x = x + self.o((scores @ v).transpose(1, 2).reshape(x.shape))
        return x + self.f2(torch.relu(self.f1(self.n2(x))))


class Transformer(nn.Module):
    """Whole, or of a stage of a pipeline."""

    def __init__(self, first=True, last=True, layers=LAYERS):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH) if first else None
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH) if last else None
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False) if last else None

    def forward(self, x):
        if self.emb is not None:
            x = self.emb(x)
        for block in self.blocks:
            x = block(x)
        return x if self.head is None else self.head(self.norm(x))


def loss_of(scores, targets):
    return nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())


def batch(count):
    tokens = torch.randint(VOCABULARY, (count, TOKENS + 1)).to(DEVICE)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def train(model, clip):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        tokens, targets = batch(BATCH)
        loss_of(model(tokens), targets).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return step, lambda: sum(float(getattr(p.detach(), "_local_tensor", p.detach()).double().sum())
                             for p in model.parameters())


def ddp():
    return train(nn.parallel.DistributedDataParallel(Transformer().to(DEVICE)), clip=False)


def fsdp2():
    from torch.distributed.fsdp import fully_shard
    model = Transformer().to(DEVICE)
    for block in model.blocks:
        fully_shard(block)
    return train(fully_shard(model), clip=True)


def pp():
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = Transformer(rank == 0, rank == ranks - 1, LAYERS // ranks).to(DEVICE)
    stage = PipelineStage(model, rank, ranks, DEVICE)
    schedule = Schedule1F1B(stage, n_microbatches=MICRO_BATCHES, loss_fn=loss_of)

    def step():
        tokens, targets = batch(MICRO_BATCHES)
        schedule.step(*([tokens] if rank == 0 else []), **({"target": targets} if rank == ranks - 1 else {}))
    return step, lambda: sum(float(p.grad.double().sum()) for p in model.parameters() if p.grad is not None)


def messages():
    """A pipeline by hand, for versions of torch that have none: activations on, gradients back."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    total = [0.0]

    def step():
        for _ in range(MICRO_BATCHES):
            tensor = torch.ones(1, TOKENS, WIDTH, device=DEVICE)
            if rank > 0:
                dist.recv(tensor, rank - 1)
            if rank + 1 < ranks:
                dist.isend(tensor + rank, rank + 1).wait()
            total[0] += float(tensor.sum())
    return step, lambda: total[0]


def experts():
    """Tokens go to the rank of their expert and back: as many as the router happens to send."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    generator = torch.Generator().manual_seed(100 + rank)
    log, total = [], [0.0]

    def step():
        to = torch.bincount(torch.randint(ranks, (BATCH * TOKENS,), generator=generator), minlength=ranks).to(DEVICE)
        come = torch.empty_like(to)
        dist.all_to_all_single(come, to)
        sent, got = (torch.ones(int(count.sum()), WIDTH, device=DEVICE) for count in (to, come))
        dist.all_to_all_single(got, sent, come.tolist(), to.tolist())
        dist.all_to_all_single(sent, got * 2, to.tolist(), come.tolist())
        total[0] += float(sent.sum())
        log.append({"to": to.tolist(), "come": come.tolist()})
    step.log = log
    return step, lambda: total[0]


def wire_counter():
    try:
        count = ctypes.CDLL(None).wire_bytes
        count.restype = ctypes.c_ulonglong
        return count
    except AttributeError:
        return None


def use_gpu():
    """Ranks beyond the GPUs share them: NCCL allows that of ranks of several machines alone."""
    global DEVICE
    rank = int(os.environ["LOCAL_RANK"])
    DEVICE = torch.device("cuda", rank % torch.cuda.device_count())
    os.environ["NCCL_HOSTID"] = f"{platform.node()}.{rank // torch.cuda.device_count()}"
    torch.cuda.set_device(DEVICE)
    torch.use_deterministic_algorithms(True)


def main(mode, logs, backend="gloo"):
    if backend == "nccl":
        use_gpu()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step, result = globals()[mode]()
    torch.manual_seed(dist.get_rank())
    count, wire = wire_counter(), []
    for _ in range(STEPS):
        before = count() if count else 0
        headway.record.step()
        step()
        wire.append(count() - before if count else None)
    said = {"wire": wire, "result": result(), "torch": torch.__version__, "log": getattr(step, "log", [])}
    pathlib.Path(logs, f"{mode}{dist.get_rank()}.json").write_text(json.dumps(said))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
