"""Waits until a program imports torch.distributed, and imports nothing of it before."""
import importlib.machinery
import sys

AWAITED = "torch.distributed.distributed_c10d"


class _Loader:
    """That of the module, and what is to be done behind it."""

    def __init__(self, real, then):
        self._real, self._then = real, then

    def __getattr__(self, name):
        return getattr(self._real, name)

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._real
        self._real.exec_module(module)
        try:
            self._then(module)
        except Exception as error:
            print(f"headway record: torch is not recorded: {type(error).__name__}: {error}",
                  file=sys.stderr)


class _Finder:
    def __init__(self, then):
        self._then = then

    def find_spec(self, name, path=None, target=None):
        if name != AWAITED:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self._then)
                return spec
        return None


def await_torch(then):
    """then(module) once it is imported."""
    sys.meta_path.insert(0, _Finder(then))
