"""Groups by the numbers by which all their ranks know them."""
from . import record_file


def group_number(ranks, ordinal):
    """[RECORD-1] FNV-1a of 32 bits over the world ranks, then over how many groups of these ranks were made
    before: apps/recorder/file/group_number.hpp. 0 stands for no group."""
    number = 2166136261
    for value in (*ranks, ordinal):
        for byte in (value & 0xffffffff).to_bytes(4, "little"):
            number = (number ^ byte) * 16777619 & 0xffffffff
    return number or 1


def name_of(ranks, ordinal, world):
    """By how the ranks lie, so that groups that lie alike have one name; none where they lie anyhow."""
    again = f" #{ordinal + 1}" if ordinal else ""
    if len(ranks) == 1:
        return "self" + again
    step = ranks[1] - ranks[0]
    if step <= 0 or any(b - a != step for a, b in zip(ranks, ranks[1:])):
        return None
    return ("world" if len(ranks) == world else f"by {step}") + again


class Group:
    def __init__(self, ranks, ordinal, world, backend):
        self.ranks = list(ranks)
        self.number = group_number(ranks, ordinal)
        self.name = name_of(ranks, ordinal, world)
        self.backend = backend
        self.collectives = 0  # that were asked of it

    @property
    def size(self):
        return len(self.ranks)

    def said(self):
        out = {"group": self.number}
        if self.name:
            out["name"] = self.name
        ranks = self.ranks
        step = ranks[1] - ranks[0] if len(ranks) > 1 else 0
        if step > 0 and ranks == list(range(ranks[0], ranks[0] + step * len(ranks), step)):
            return {**out, "first": ranks[0], "step": step, "size": len(ranks)}
        return {**out, "ranks": ranks}


class Groups:
    """Those of one program."""

    def __init__(self, world):
        self._world = world
        self._made = {}

    def make(self, ranks, backend):
        ordinal = self._made.get(tuple(ranks), 0)
        self._made[tuple(ranks)] = ordinal + 1
        return Group(ranks, ordinal, self._world, backend)


# What a backend does where that is another operation than was asked for. gloo has no reduce-scatter of
# its own: an all-reduce of the whole input goes over the wire, of which each rank keeps its part.
# Source: torch 2.15.0, bytes on the wire; kind: measured; 2026-11.
DONE_AS = {("gloo", record_file.OP["reduce_scatter"]): record_file.OP["all_reduce"]}


def done_as(backend, op):
    return DONE_AS.get((backend, op), op)
