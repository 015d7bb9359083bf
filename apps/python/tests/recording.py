"""Reads a recording by its description in docs/record.md, for tests: independent of both who writes it and
headway's reader."""
import bisect
import collections
import json
import pathlib
import struct

Call = collections.namedtuple("Call", "step op done element size group sequence peer tag time flags function")
TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
         "float64", "float8_e4m3fn", "float8_e5m2", "bool")
OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive", "send",
       "receive", "reduce", "gather", "scatter", "barrier", "other")


class Rank:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        end = data.index(b"\n") + 1
        self.header = json.loads(data[:end])
        self.waits, self.groups, self.clocks, self.marks, self.files = 0, {}, [], [], []
        self.lost, self.whole = None, False
        at, calls = end, []
        while at + 48 <= len(data):
            start, duration, size, asked, done, element, time, group, sequence, peer, stream, flags = \
                struct.unpack_from("<QQQBBBBIIiII", data, at)
            at += 48
            if asked == 66:
                self.lost, self.whole = size, bool(flags & 32)
            elif asked == 67:
                said = json.loads(data[at:at + size])
                at += -(-size // 48) * 48
                if "group" in said:
                    # Of NCCL each file knows the place of its own rank alone.
                    self.groups[said["group"]] = said.get("ranks") or (
                        [said["first"] + i * said["step"] for i in range(said["size"])] if "first" in said else [])
                elif "clock" in said:
                    self.clocks.append(said["clock"])
            elif asked == 65:
                self.marks.append((start, size))
            elif asked == 64:
                self.waits += 1
            elif asked == 68:
                self.files = sorted([*self.files, size])
            else:
                number = flags >> 16 & 0x3ff
                function = self.header["functions"][number - 1] if number else None
                calls.append((start, flags >> 26, Call(
                    None, OPS[asked], OPS[done], TYPES[element - 1] if element else None, size, group,
                    sequence if flags & 4 else None, peer if flags & 8 else None, stream if flags & 16 else None,
                    (time, duration), flags & 0xffff, function)))
        self.cut = len(data) - at
        # A call is of the step in which it began: it may be done in the next. One that a device does later says how
        # many steps had begun when it was asked for.
        calls.sort(key=lambda known: known[0])
        starts = [mark[0] for mark in self.marks]
        self.calls = []
        for start, asked, call in calls:
            mark = bisect.bisect_right(starts, start)
            while asked and mark and (self.marks[mark - 1][1] + 1) % 63 + 1 != asked:
                mark -= 1
            self.calls.append(call._replace(step=self.marks[mark - 1][1] if mark else None))


def read(folder):
    return {rank.header["rank"]: rank for rank in map(Rank, sorted(pathlib.Path(folder).glob("rank*.hwr")))}
