"""The bytes of a recording, as src/trace/recording/record_file.hpp has them."""
import json
import struct

VERSION = 1
RECORD = struct.Struct("<QQQBBBBIIiII")
RECORD_BYTES = RECORD.size
assert RECORD_BYTES == 48

# What a record is of: the operations of recordings, and what else a file holds.
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive",
              "send", "receive", "reduce", "gather", "scatter", "barrier", "other")
OP = {name: number for number, name in enumerate(OPERATIONS)}
WAIT, STEP, STATE, TEXT = 64, 65, 66, 67

# What the duration is of.
NO_TIME, DEVICE, HOST, ENQUEUE, STREAM = range(5)

# Flags.
PART, UNTIL, SEQUENCE, PEER, TAG, WHOLE, BESIDE = 1, 2, 4, 8, 16, 32, 64
FUNCTION_SHIFT = 16

LINE = 64
COUNT = struct.Struct("<Q")  # of the records that came, at the beginning of the state

# 1 + the number of the element type; 0: not known.
ELEMENT_TYPES = {name: number + 1 for number, name in enumerate(
    ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
     "float64", "float8_e4m3fn", "float8_e5m2", "bool"))}


def record(asked, done=None, start_ns=0, duration_ns=0, size=0, element=0, time=NO_TIME, group=0,
           sequence=0, peer=-1, stream=0, flags=0):
    return RECORD.pack(start_ns, duration_ns, size, asked, asked if done is None else done, element, time,
                       group, sequence, peer, stream & 0xffffffff, flags)


def state(lost, whole, elsewhere=0):
    """elsewhere: records that are in files before this one or lost. How many came is put in its place."""
    return record(STATE, duration_ns=elsewhere, size=lost, flags=WHOLE if whole else 0)


def text(said):
    """JSON behind a record that says how long it is, in whole slots."""
    written = json.dumps(said, separators=(",", ":")).encode()
    slots = -(-len(written) // RECORD_BYTES)
    return record(TEXT, size=len(written)) + written.ljust(slots * RECORD_BYTES)


def header(said):
    """A line, with spaces before its end: what stands behind is in one page of memory."""
    written = json.dumps({"headway_record": VERSION, **said}, separators=(",", ":")).encode()
    return written.ljust(-(-(len(written) + 1) // LINE) * LINE - 1) + b"\n"
