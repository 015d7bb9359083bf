"""Of versions of torch before 2.15, from 1.13 on: the methods of a process group are gone through, and
for what asks the dispatcher without them (the reducer of DistributedDataParallel, in C++) a kernel
stands before those of c10d."""
import functools
import sys
import threading

from .calls import is_of_torch

# Function of the dispatcher: method of a group; which arguments go in and which come out; what stands
# behind them in the method: a root in its options, a rank and a tag.
ROLES = {
    "allreduce_": ("allreduce", 0, None), "allreduce_coalesced_": ("allreduce_coalesced", 0, None),
    "allgather_": ("allgather", 1, 0), "_allgather_base_": ("_allgather_base", 1, 0),
    "allgather_coalesced_": ("allgather_coalesced", 1, 0),
    "allgather_into_tensor_coalesced_": ("allgather_into_tensor_coalesced", 1, 0),
    "reduce_scatter_": ("reduce_scatter", 1, 0),
    "_reduce_scatter_base_": ("_reduce_scatter_base", 1, 0),
    "reduce_scatter_tensor_coalesced_": ("reduce_scatter_tensor_coalesced", 1, 0),
    "alltoall_": ("alltoall", 1, 0), "alltoall_base_": ("alltoall_base", 1, 0),
    "broadcast_": ("broadcast", 0, None), "reduce_": ("reduce", 0, None),
    "gather_": ("gather", 1, 0), "scatter_": ("scatter", 1, 0), "barrier": ("barrier", None, None),
    "send": ("send", 0, None), "recv_": ("recv", None, 0),
    "recv_any_source_": ("recv_anysource", None, 0),
}
ROOTED = ("broadcast_", "reduce_", "gather_", "scatter_")
MESSAGES = ("send", "recv_")
KEYS = ("AutogradCPU", "AutogradCUDA")

_inside = threading.local()  # .depth: of calls within calls
_kernels = None
_unbox = None
_asked_by_cpp = set()  # groups that reducers were made for


def tensors_in(value):
    if hasattr(value, "element_size"):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for one in value for tensor in tensors_in(one)]
    return []


def _at(arguments, place):
    return tensors_in(arguments[place]) if place is not None and place < len(arguments) else []


def _root_of_options(arguments, named):
    for value in (*arguments, *named.values()):
        if hasattr(value, "rootRank"):
            return value.rootRank
    return named.get("root", -1)


def _whole(arguments, named, names):
    """As if all had been given in their order."""
    out = list(arguments)
    for name in names[len(out):]:
        if name not in named:
            break
        out.append(named[name])
    return out


def _watched_method(real, function, session_of):
    _, ins, outs = ROLES[function]
    names = ["tensors", {"send": "dstRank", "recv_": "srcRank"}.get(function, "opts"), "tag"]
    if outs == 0 and ins == 1:
        names = ["output_tensors", "input_tensors", "opts"]

    @functools.wraps(real)
    def method(self, *arguments, **named):
        session = session_of()
        group = session.by_group.get(self) if session is not None else None
        if group is None or getattr(_inside, "depth", 0):
            return real(self, *arguments, **named)
        call = None
        with session.guarded():
            frame = sys._getframe(1)
            blocks = is_of_torch(frame) and frame.f_locals.get("async_op") is False
            given = _whole(arguments, named, names)
            peer, tag = _root_of_options(arguments, named) if function in ROOTED else -1, None
            if function in MESSAGES:
                peer, tag = given[1], given[2]
            call = session.calls.begin(group, function, _at(given, ins), _at(given, outs), peer, tag, blocks)
        _inside.depth = 1
        try:
            work = real(self, *arguments, **named)
        finally:
            _inside.depth = 0
        if call is not None:
            with session.guarded():
                session.calls.asked(call, work)
        return work

    return method


def _group_of(session, boxed):
    """Of the dispatcher's handle of a group: before torch 2.1 nothing says whose it is, and it is that
    of the reducers if they have one, or the only one that there is."""
    if _unbox is not None:
        return session.by_group.get(_unbox(boxed))
    of_reducers = [group for group in _asked_by_cpp if group in session.by_group]
    known = of_reducers or list(session.by_group)
    return session.by_group[known[0]] if len(known) == 1 else None


def _kernel(torch, core, function, overload, session_of):
    _, ins, outs = ROLES[function]
    unbox_work = getattr(core.Work, "unbox", None)

    def go_on(arguments, named):
        guard = torch._C._AutoDispatchBelowAutograd()
        if hasattr(guard, "__enter__"):
            with guard:
                return overload(*arguments, **named)
        try:
            return overload(*arguments, **named)
        finally:
            del guard

    def kernel(*arguments, **named):
        session = session_of()
        if session is None or getattr(_inside, "depth", 0):
            return go_on(arguments, named)
        call = None
        with session.guarded():
            boxed = [value for value in arguments if isinstance(value, torch.ScriptObject)]
            group = _group_of(session, boxed[0])
            numbers = [value for value in arguments if type(value) is int]
            if group is not None:
                rooted = function in ROOTED or function in MESSAGES
                call = session.calls.begin(group, function, _at(arguments, ins), _at(arguments, outs),
                                           numbers[0] if rooted else -1,
                                           numbers[1] if function in MESSAGES else None)
        result = go_on(arguments, named)
        if call is not None:
            with session.guarded():
                work = result[-1] if isinstance(result, (list, tuple)) else result
                session.calls.asked(call, unbox_work(work) if unbox_work is not None else None)
        return result

    return kernel


def prepare(core, session_of):
    global _kernels, _unbox
    import torch
    _unbox = getattr(core.ProcessGroup, "unbox", None)
    kinds = [kind for kind in vars(core).values()
             if isinstance(kind, type) and issubclass(kind, core.ProcessGroup)]
    _kernels = torch.library.Library("c10d", "IMPL")
    for function, (name, ins, outs) in ROLES.items():
        for kind in kinds:
            real = vars(kind).get(name)
            if real is not None:
                setattr(kind, name, _watched_method(real, function, session_of))
        packet = getattr(torch.ops.c10d, function, None)
        if packet is None or (ins is None and outs is None):
            continue  # there is none, or it takes no tensor by which a kernel is chosen
        for key in KEYS:
            _kernels.impl(function, _kernel(torch, core, function, packet.default, session_of), key)
    if _unbox is None:
        _watch_reducers(core)


def _watch_reducers(core):
    real = core.Reducer.__init__

    @functools.wraps(real)
    def made(self, *arguments, **named):
        for value in (*arguments, *named.values()):
            if isinstance(value, core.ProcessGroup):
                _asked_by_cpp.add(value)
        return real(self, *arguments, **named)

    core.Reducer.__init__ = made


def add_group(process_group, group):
    """The methods find it by itself."""
