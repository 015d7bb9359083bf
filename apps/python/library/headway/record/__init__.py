"""Records what a program asks of torch.distributed, one file a rank, as `headway record` does.

    headway record -o recording -- torchrun --nproc-per-node 4 train.py     nothing to be changed
    import headway.record; headway.record.start("recording")                by hand, before the groups

    headway.record.step()       a step of the program begins

    with headway.record("recording"):           the same, to the end of the block
        ...

Without a recorder step() does nothing. Read the files with `headway comms recording`.
"""
import os
import sys
import types

__all__ = ["start", "step", "stop"]


def start(folder=None):
    """Records from here on into `folder`, by default the one that `headway record` names: the groups of
    torch.distributed that are there, and those to come. Imports next to nothing before torch is."""
    if folder is not None:
        os.environ["HEADWAY_RECORD"] = os.path.abspath(folder)
    module = sys.modules.get("torch.distributed.distributed_c10d")
    if module is not None and not getattr(module.__spec__, "_initializing", False):
        _watch(module)
    else:
        from .importing import await_torch
        await_torch(_watch)


def _watch(module):
    from .torch_calls import watch
    watch(module)


def step():
    """A step begins. Steps count from 0; what comes before the first is of none."""
    from . import marks
    marks.step()


def stop():
    """Ends the files; the program goes on unrecorded."""
    from . import session
    session.end()


class _Recording:
    """From the beginning of a block to its end."""

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        start(self._folder)

    def __exit__(self, *_):
        stop()


class _Module(types.ModuleType):
    def __call__(self, folder):
        return _Recording(os.fspath(folder))


sys.modules[__name__].__class__ = _Module
