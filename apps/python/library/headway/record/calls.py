"""What one call moves, and when it was done."""
import collections
import sys
import time

from . import record_file
from .groups import done_as
from .record_file import OP

# The calls of torch.distributed by the names that they have in its dispatcher, and what they ask for.
FUNCTIONS = {
    "allreduce_": "all_reduce", "allreduce_coalesced_": "all_reduce",
    "allgather_": "all_gather", "_allgather_base_": "all_gather",
    "allgather_coalesced_": "all_gather", "allgather_into_tensor_coalesced_": "all_gather",
    "reduce_scatter_": "reduce_scatter", "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter",
    "alltoall_": "all_to_all", "alltoall_base_": "all_to_all",
    "broadcast_": "broadcast", "reduce_": "reduce", "gather_": "gather", "scatter_": "scatter",
    "barrier": "barrier", "send": "send", "recv_": "receive", "recv_any_source_": "receive",
    "wait": "wait",
}
NUMBERS = {name: number + 1 for number, name in enumerate(FUNCTIONS)}
MESSAGES = (OP["send"], OP["receive"])
MOST_OPEN = 1024  # calls that are asked for and not known to be done

COUNTS = "the whole tensor; all-to-all: what a rank sends in all"


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def whole(op, inputs, outputs, ranks):
    """The bytes of the whole tensor, as RecordedCall::bytes of src/trace/recording counts them."""
    if op == OP["all_gather"]:
        return bytes_of(outputs) if outputs else bytes_of(inputs) * ranks
    if op == OP["gather"]:
        return bytes_of(inputs) * ranks
    if op == OP["scatter"]:
        return bytes_of(outputs) * ranks
    if op == OP["receive"]:
        return bytes_of(outputs)
    return bytes_of(inputs)


def element_of(tensors):
    if not tensors:
        return 0
    return record_file.ELEMENT_TYPES.get(str(tensors[0].dtype).rpartition(".")[2], 0)


class Call:
    __slots__ = ("op", "function", "size", "element", "group", "sequence", "peer", "tag", "start_ns",
                 "blocks", "on_device")

    def put(self, writer, end_ns, time_kind, flags=0):
        if self.sequence is not None:
            flags |= record_file.SEQUENCE
        if self.peer >= 0:
            flags |= record_file.PEER
        if self.tag is not None:
            flags |= record_file.TAG
        writer.put(record_file.record(
            self.op, done_as(self.group.backend, self.op), self.start_ns,
            0 if time_kind == record_file.NO_TIME else max(1, end_ns - self.start_ns), self.size,
            self.element, time_kind, self.group.number, self.sequence or 0, self.peer, self.tag or 0,
            flags | NUMBERS[self.function] << record_file.FUNCTION_SHIFT))


class Calls:
    """Those of one program, on their way to its file."""

    def __init__(self, session):
        self._session = session
        self._open = collections.OrderedDict()  # by the identity of the Work, which is kept with it

    def begin(self, group, function, inputs, outputs, peer=-1, tag=None, blocks=False):
        """A call is asked for; None where it is not to be recorded."""
        op = OP[FUNCTIONS[function]]
        sequence = None
        if op not in MESSAGES:  # counted in every step, so that all ranks count alike
            sequence = group.collectives & 0xffffffff
            group.collectives += 1
        if not self._session.records:
            return None
        size = whole(op, inputs, outputs, group.size)
        if not self._session.settings.keeps(op, size):
            return None
        tensors = inputs or outputs
        call = Call()
        call.on_device = bool(tensors) and tensors[0].device.type != "cpu"
        if call.on_device and self._session.is_capturing():
            return None
        # What NCCL is asked for its own recorder sees, with its times on the device: once is enough.
        of_nccl = "nccl" in str(group.backend) and (call.on_device or not tensors)
        if of_nccl and self._session.settings.leaves_to_nccl:
            return None
        call.op, call.function, call.size, call.element = op, function, size, element_of(tensors)
        call.group, call.sequence, call.peer, call.tag = group, sequence, peer, tag
        call.blocks = blocks
        call.start_ns = time.monotonic_ns()
        return call

    def asked(self, call, work):
        """It was handed to the backend."""
        writer = self._session.writer
        now = time.monotonic_ns()
        if call.on_device:  # the rest goes on there
            return call.put(writer, now, record_file.ENQUEUE)
        if work is None:
            return call.put(writer, now, record_file.HOST if call.blocks else record_file.NO_TIME)
        if not call.blocks and call.op not in MESSAGES:
            try:
                work.get_future().add_done_callback(
                    lambda _: call.put(writer, time.monotonic_ns(), record_file.HOST, record_file.BESIDE))
                return None
            except RuntimeError:  # a backend without futures
                pass
        self._open[id(work)] = work, call
        while len(self._open) > MOST_OPEN:
            self._let_go()
        return None

    def waited(self, work, start_ns, end_ns, by):
        """The program waited for it; `by`: the frame that did."""
        _, call = self._open.pop(id(work), (None, None))
        inside = is_of_torch(by)  # a call of the program's that blocks, and no wait of its own
        writer = self._session.writer
        if call is not None:
            if call.op == OP["receive"] and call.peer < 0:
                call.peer = source_of(work)
            blocks = call.blocks or inside
            call.put(writer, end_ns, record_file.HOST, 0 if blocks else record_file.UNTIL)
        if not inside and self._session.records and self._session.settings.keeps(record_file.WAIT, 0):
            writer.put(record_file.record(
                record_file.WAIT, start_ns=start_ns, duration_ns=max(1, end_ns - start_ns), size=1,
                time=record_file.HOST, flags=NUMBERS["wait"] << record_file.FUNCTION_SHIFT))

    def end(self):
        while self._open:
            self._let_go()

    def _let_go(self):
        """When it will be done nobody will know."""
        try:
            _, (_, call) = self._open.popitem(last=False)
        except KeyError:
            return
        call.put(self._session.writer, 0, record_file.NO_TIME)


def is_of_torch(frame):
    return frame.f_globals.get("__name__") == "torch.distributed.distributed_c10d"


def source_of(work):
    try:
        return work._source_rank()
    except (RuntimeError, AttributeError):
        return -1


def watch_waits(work_type, session_of):
    """Lets every wait of a program go through here: what it waited for is done then."""
    real = work_type.wait

    def wait(self, *arguments, **named):
        session = session_of()
        if session is None:
            return real(self, *arguments, **named)
        start_ns = time.monotonic_ns()
        result = real(self, *arguments, **named)
        with session.guarded():
            session.calls.waited(self, start_ns, time.monotonic_ns(), sys._getframe(1))
        return result

    wait.__doc__ = real.__doc__
    work_type.wait = wait
