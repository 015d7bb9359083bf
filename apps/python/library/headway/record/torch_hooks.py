"""Of torch 2.15 and later: a group tells what it is asked for, whoever asks (Hooks.hpp of c10d)."""
from .calls import MOST_OPEN

HOOK = 0x6877  # "hw": hooks of one group are told apart by their numbers

# HookOpName -> function of the dispatcher. A recv of any source is one whose root is -1.
NAMES = {
    "SEND": "send", "RECV": "recv_", "BROADCAST": "broadcast_", "ALLREDUCE": "allreduce_",
    "REDUCE": "reduce_", "ALLGATHER": "allgather_", "REDUCE_SCATTER": "reduce_scatter_",
    "ALLTOALL": "alltoall_", "BARRIER": "barrier", "SCATTER": "scatter_", "GATHER": "gather_",
    "ALLREDUCE_COALESCED": "allreduce_coalesced_", "ALLGATHER_BASE": "_allgather_base_",
    "ALLGATHER_COALESCED": "allgather_coalesced_",
    "ALLGATHER_INTO_TENSOR_COALESCED": "allgather_into_tensor_coalesced_",
    "REDUCE_SCATTER_BASE": "_reduce_scatter_base_",
    "REDUCE_SCATTER_TENSOR_COALESCED": "reduce_scatter_tensor_coalesced_",
    "ALLTOALL_BASE": "alltoall_base_",
}
_session_of = None


def prepare(core, session_of):
    global _session_of
    _session_of = session_of


def add_group(process_group, group):
    open_calls = {}  # by their number, between the two hooks
    own = _session_of()

    def before(told):
        session = _session_of()
        if session is not own or session is None:
            return
        with session.guarded():
            function = NAMES.get(told.name.name)
            if function is None:
                return
            # Of a message both hooks say that it is asynchronous, of whatever kind it is.
            call = session.calls.begin(group, function, told.input_tensors, told.output_tensors, told.root,
                                       blocks=not told.async_op)
            if call is not None:
                open_calls[told.op_id] = call

    def after(told):
        session = _session_of()
        if session is not own or session is None:
            return
        with session.guarded():
            call = open_calls.pop(told.op_id, None)
            if call is not None:
                session.calls.asked(call, told.work)
            while len(open_calls) > MOST_OPEN:  # the backend refused them
                open_calls.pop(next(iter(open_calls)))

    process_group.register_pre_hook(HOOK, before)
    process_group.register_post_hook(HOOK, after)
