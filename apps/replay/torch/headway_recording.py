"""A file of headway's recorders (docs/record.md, The file), written at once."""

import json
import os
import socket
import struct

OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive",
              "send", "receive", "reduce", "gather", "scatter", "barrier"]
TYPES = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "fp16", "bf16", "fp32",
         "fp64", "fp8_e4m3", "fp8_e5m2", "bool"]
STEP, STATE, TEXT = 65, 66, 67
DEVICE, HOST = 1, 2
UNTIL, SEQUENCE, PEER, TAG, WHOLE = 2, 4, 8, 16, 32
RECORD = struct.Struct("<QQQBBBBIIiII")
assert RECORD.size == 48


class Recording:
    def __init__(self, rank, world, library):
        self.header = {"headway_record": 1, "rank": rank, "world": world,
                       "host": socket.gethostname(), "library": library, "version": "1",
                       "functions": [], "counts": "the whole tensor"}
        self.records = []
        self.sequences = {}

    def _text(self, text):
        data = json.dumps(text).encode()
        self.records.append(RECORD.pack(0, 0, len(data), TEXT, TEXT, 0, 0, 0, 0, -1, 0, 0))
        self.records.append(data + b" " * (-len(data) % RECORD.size))

    def group(self, number, name, ranks):
        self._text({"group": number, "name": name, "ranks": ranks})

    def step(self, number, at_ns):
        self.records.append(RECORD.pack(at_ns, 0, number, STEP, STEP, 0, 0, 0, 0, -1, 0, 0))

    def call(self, item, group, start_ns, duration_ns, size, time=HOST, until=False, done=None):
        op = OPERATIONS.index(item["call"])
        flags = UNTIL if until else 0
        tag, sequence = 0, 0
        if item["call"] in ("send", "receive"):
            flags |= TAG
            tag = item.get("tag", 0)
        else:
            flags |= SEQUENCE
            sequence = self.sequences[group] = self.sequences.get(group, -1) + 1
        if "peer" in item:
            flags |= PEER
        done = op if done is None else OPERATIONS.index(done)
        self.records.append(RECORD.pack(start_ns, max(1, duration_ns), size, op, done,
                                        1 + TYPES.index(item.get("type", "uint8")), time, group,
                                        sequence, item.get("peer", -1), tag, flags))

    def write(self, folder):
        path = os.path.join(folder, f"rank{self.header['rank']}.hwr")
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(json.dumps(self.header, separators=(",", ":")).encode() + b"\n")
            file.write(RECORD.pack(0, 0, 0, STATE, STATE, 0, 0, 0, 0, -1, 0, WHOLE))
            for record in self.records:
                file.write(record)
