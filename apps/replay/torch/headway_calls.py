"""The calls of a list as torch.distributed makes them."""

import math

import headway_lists
import headway_recording


class Calls:
    """Buffers, groups, and each operation as torch calls it."""

    def __init__(self, torch, dist, header, ranks, rank, device):
        self.torch, self.dist, self.device = torch, dist, device
        self.rank, self.groups = rank, header["groups"]
        self.numbers, self.made = {}, {}
        for number, (group, stream) in enumerate(headway_lists.keys_of(ranks), 1):
            members = self.groups[group]["ranks"]
            self.numbers[group, stream] = number
            self.made[group, stream] = dist.new_group(members)
        # What is sent is the same of all calls; what comes has its own memory while it comes.
        largest = {}
        for item in ranks[rank]:
            if "call" in item:
                dtype = self.dtype(item)
                largest[dtype] = max(largest.get(dtype, 0), self.elements(item)[1])
        self.sent = {dtype: torch.ones(max(1, count), dtype=dtype, device=device)
                     for dtype, count in largest.items()}
        self.free = {dtype: [] for dtype in largest}

    def dtype(self, item):
        """One of as many bytes that the backend sums: gloo sums no bf16."""
        torch = self.torch
        return {
            "fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16,
            "bf16": torch.bfloat16 if self.device.type == "cuda" else torch.float16,
            "int64": torch.int64, "uint64": torch.int64, "int32": torch.int32,
            "uint32": torch.int32, "int16": torch.float16, "int8": torch.int8,
        }.get(headway_recording.type_of(item), torch.uint8)

    def elements(self, item):
        """As listed, with what fills up the parts of all ranks, and of one part."""
        count = len(self.members(item))
        listed = math.ceil(item["bytes"] / headway_recording.TYPES[headway_recording.type_of(item)][1])
        part = math.ceil(listed / count)
        in_parts = item["call"] in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
        return listed, part * count if in_parts else listed, part

    def number(self, item):
        return self.numbers[headway_lists.key_of(item)]

    def members(self, item):
        return self.groups[item["group"]]["ranks"]

    def _memory(self, dtype, elements):
        kept = self.free[dtype]
        for i, buffer in enumerate(kept):
            if buffer.numel() >= elements:
                return kept.pop(i)
        return self.torch.ones(max(1, elements), dtype=dtype, device=self.device)

    def issue(self, item):
        """The work, what it uses, and the bytes and operation that it comes to: bytes as listed, though
        gloo and NCCL move as much for every rank."""
        dist, group = self.dist, self.made[headway_lists.key_of(item)]
        members, op = self.members(item), item["call"]
        listed, whole, part = self.elements(item)
        dtype = self.dtype(item)
        got = self._memory(dtype, whole)
        s, g = self.sent[dtype][:whole], got[:whole]
        tensors = self.device.type == "cuda"  # whole ones, where the backend takes them
        done = op
        root = members[item.get("peer", 0)]
        kwargs = {"group": group, "async_op": True}
        if op == "all_reduce":
            work = dist.all_reduce(g, **kwargs)
        elif op == "all_gather" and tensors:
            work = dist.all_gather_into_tensor(g, s[:part], **kwargs)
        elif op == "all_gather":
            work = dist.all_gather(list(g.split(part)), s[:part], **kwargs)
        elif op == "reduce_scatter" and tensors:
            work = dist.reduce_scatter_tensor(g[:part], s, **kwargs)
        elif op == "reduce_scatter":
            done = "all_reduce"  # which gloo sends for it
            try:
                work = dist.reduce_scatter(g[:part], list(s.split(part)), **kwargs)
            except RuntimeError:  # older versions have none
                work = dist.all_reduce(g, **kwargs)
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
        width = headway_recording.TYPES[headway_recording.type_of(item)][1]
        return work, got, listed * width, done

    def release(self, got):
        self.free[got.dtype].append(got)

    def meet(self, group):
        """Until all ranks of the group are ready; not recorded."""
        stream = min(stream for (of, stream) in self.made if of == group)
        self.dist.barrier(group=self.made[group, stream])
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()
