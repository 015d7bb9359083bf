"""Python runs this at its start, for `headway record` names its folder in PYTHONPATH: the recorder is
made ready, then what of this name would have run without it."""
import importlib.machinery
import importlib.util
import os
import sys


def _run_the_next():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("HEADWAY_RECORD"):
    try:
        import headway.record
        headway.record.start()
    except Exception as error:
        print(f"headway record: Python is not recorded: {type(error).__name__}: {error}", file=sys.stderr)
_run_the_next()
