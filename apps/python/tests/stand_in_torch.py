"""The least of torch that the recorder touches, so that it is tested where there is none: process groups
with the hooks of torch 2.15, works with and without futures, a store. Nothing is sent."""
import pathlib
import sys
import time
import types


class Tensor:
    def __init__(self, numbers, dtype="torch.float32", size=4, device="cpu"):
        self._numbers, self.dtype, self._size = numbers, dtype, size
        self.device = types.SimpleNamespace(type=device)

    def numel(self):
        return self._numbers

    def element_size(self):
        return self._size


class Future:
    def __init__(self):
        self._then, self._done = [], False

    def add_done_callback(self, then):
        if self._done:
            then(self)
        else:
            self._then.append(then)

    def mark_done(self):
        self._done = True
        for then in self._then:
            then(self)


class Work:
    def __init__(self, future=None, source=-1):
        self._future, self._source = future, source

    def wait(self, timeout=None):
        return True

    def get_future(self):
        if self._future is None:
            raise RuntimeError("Work::getFuture not implemented.")
        return self._future

    def _source_rank(self):
        return self._source


class ProcessGroup:
    def __init__(self, rank, size, backend):
        self._rank, self._size, self._backend = rank, size, backend
        self.before, self.after, self._next = [], [], 0

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    def _get_backend_name(self):
        return self._backend

    def register_pre_hook(self, number, hook):
        self.before.append(hook)

    def register_post_hook(self, number, hook):
        self.after.append(hook)

    def ask(self, name, work, inputs=(), outputs=(), root=-1, async_op=False):
        name, number = types.SimpleNamespace(name=name), self._next
        self._next += 1
        for hook in self.before:
            hook(types.SimpleNamespace(name=name, op_id=number, async_op=async_op, root=root,
                                       input_tensors=list(inputs), output_tensors=list(outputs)))
        for hook in self.after:
            hook(types.SimpleNamespace(name=name, op_id=number, async_op=async_op, work=work))
        return work


class Store:
    """What ranks tell each other: files of a folder."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)

    def _file(self, key):
        return self._folder / key.replace("/", "_")

    def set(self, key, value):
        fresh = self._file(key).with_suffix(".fresh")
        fresh.write_text(value)
        fresh.rename(self._file(key))

    def wait(self, keys, timeout):
        until = time.monotonic() + timeout.total_seconds()
        while not all(self._file(key).exists() for key in keys):
            if time.monotonic() > until:
                raise RuntimeError("wait timeout")
            time.sleep(0.002)

    def get(self, key):
        return self._file(key).read_bytes()


def install(store):
    """The modules under torch's names; gives that of process groups."""
    torch, core, c10d = (types.ModuleType(name) for name in (
        "torch", "torch._C._distributed_c10d", "torch.distributed.distributed_c10d"))
    torch.__version__ = "2.15.0+none"
    torch.cuda = types.SimpleNamespace(is_available=lambda: False)
    core.ProcessGroup, core.Work = ProcessGroup, Work
    c10d._pg_group_ranks, c10d.GroupMember = {}, types.SimpleNamespace(WORLD=None)
    c10d._get_default_store = lambda: store
    # A call of the program's that blocks waits within this module.
    exec("def blocking(work):\n    work.wait()\n", c10d.__dict__)
    torch._C, torch.distributed = types.ModuleType("torch._C"), types.ModuleType("torch.distributed")
    torch._C._distributed_c10d, torch.distributed.distributed_c10d = core, c10d
    for module in (torch, core, c10d, torch._C, torch.distributed):
        sys.modules[module.__name__] = module
    return c10d
