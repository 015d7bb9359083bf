"""Watches torch.distributed: every process group of a program, and the calls that it is asked for."""
import functools

from . import marks, session
from .calls import watch_waits

_watched = False


def watch(c10d):
    """Of the module torch.distributed.distributed_c10d, once: groups are seen where it keeps their
    ranks, for every way to make one leads there, in every version."""
    global _watched
    if _watched or not hasattr(c10d, "_pg_group_ranks"):
        return
    _watched = True
    c10d._pg_group_ranks = _Ranks(c10d, c10d._pg_group_ranks)


def _way():
    """How this version tells what is asked; torch is whole by then."""
    import torch._C._distributed_c10d as core
    if hasattr(core.ProcessGroup, "register_pre_hook"):
        from . import torch_hooks as way
    else:
        from . import torch_dispatcher as way
    way.prepare(core, lambda: session.current)
    watch_waits(core.Work, lambda: session.current)
    return way


class _Ranks(dict):
    def __init__(self, c10d, known):
        self._c10d, self._way = c10d, None
        super().__init__()
        for group, ranks in known.items():
            self[group] = ranks

    def __setitem__(self, process_group, ranks):
        super().__setitem__(process_group, ranks)
        if not callable(getattr(process_group, "rank", None)):
            return  # this process is in none
        try:
            self._add(process_group, ranks)
        except Exception as error:  # the program goes on whatever it is
            session.say(f"a process group is not recorded: {type(error).__name__}: {error}")

    def _add(self, process_group, ranks):
        if session.current is None or process_group is self._c10d.GroupMember.WORLD:
            if not self._begin(process_group):
                return
        if process_group in session.current.by_group:
            return
        in_order = sorted(ranks, key=ranks.get)
        group = session.current.add_group(process_group, in_order, _backend(process_group))
        if self._way is None:
            self._way = _way()
            marks.await_ranges()
        self._way.add_group(process_group, group)

    def _begin(self, process_group):
        import torch
        world = self._c10d.GroupMember.WORLD or process_group
        library = f"PyTorch {torch.__version__} ({_backend(world)})"
        begun = session.begin(world.rank(), world.size(), library, self._store(world))
        if begun is not None:
            begun.set_capturing(functools.partial(_is_capturing, torch))
        return begun is not None

    def _store(self, world):
        try:
            return self._c10d._get_default_store()
        except Exception:
            return None


def _backend(process_group):
    """The one that serves the host, of a group that has several."""
    try:
        name = process_group._get_backend_name() if hasattr(process_group, "_get_backend_name") else ""
        if not name or name in ("custom", "undefined"):
            import torch
            return process_group._get_backend(torch.device("cpu")).name()
        return name
    except Exception:
        return ""


def _is_capturing(torch):
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()
