"""What a replay did as a recording (docs/record.md, The file), written at once."""

import os
import socket

import record_file

# Types of elements by their names in lists: torch's name, bytes.
TYPES = {"int8": ("int8", 1), "uint8": ("uint8", 1), "int16": ("int16", 2), "int32": ("int32", 4),
         "uint32": ("uint32", 4), "int64": ("int64", 8), "uint64": ("uint64", 8),
         "fp16": ("float16", 2), "bf16": ("bfloat16", 2), "fp32": ("float32", 4),
         "fp64": ("float64", 8), "fp8_e4m3": ("float8_e4m3fn", 1), "fp8_e5m2": ("float8_e5m2", 1),
         "bool": ("bool", 1)}


def type_of(item):
    return item.get("type", "uint8")


def path_in(folder, rank):
    return os.path.join(folder, f"rank{rank}.hwr")


class Recording:
    def __init__(self, rank, world, library):
        self.rank = rank
        self.parts = [record_file.header({
            "rank": rank, "world": world, "host": socket.gethostname(), "library": library,
            "version": "1", "functions": [], "counts": "the whole tensor"}),
            record_file.state(0, whole=True)]
        self.sequences = {}

    def group(self, number, name, ranks):
        self.parts.append(record_file.text({"group": number, "name": name, "ranks": ranks}))

    def step(self, number, at_ns):
        self.parts.append(record_file.record(record_file.STEP, start_ns=at_ns, size=number))

    def call(self, item, group, start_ns, duration_ns, size, time=record_file.HOST, done=None):
        """`done`: the operation that was made of it, where that is another one."""
        flags, tag, sequence = 0, 0, 0
        if item["call"] in ("send", "receive"):
            flags |= record_file.TAG
            tag = item.get("tag", 0)
        else:
            flags |= record_file.SEQUENCE
            sequence = self.sequences[group] = self.sequences.get(group, -1) + 1
        if "peer" in item:
            flags |= record_file.PEER
        self.parts.append(record_file.record(
            record_file.OP[item["call"]], record_file.OP[done or item["call"]], start_ns,
            max(1, duration_ns), size, record_file.ELEMENT_TYPES[TYPES[type_of(item)][0]], time,
            group, sequence, item.get("peer", -1), tag, flags))

    def write(self, folder):
        path = path_in(folder, self.rank)
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            for part in self.parts:
                file.write(part)
