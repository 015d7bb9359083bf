"""How long one step of training a large model takes and why, the best way to split it over a machine,
what serving takes, how far training scales, and what traces of real runs say.

    import headway as hw
    step = hw.predict(model="llama-3.1-70b", cluster="dgx-h100", gpus=64, seq=8192, global_batch=128)
    step.step_time_s, step.mfu, step.parts_s.compute

Every command of the program is a function. Its arguments are the flags, with underscores; what it gives
has the names of `headway COMMAND --json`. Quantities are in SI units, the unit in their names.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import record as record
    from ._commands import (advise as advise, bench as bench, calibrate as calibrate, comms as comms,
                            design as design, infer as infer, jobs as jobs, limits as limits,
                            list as list, plan as plan, predict as predict, scale as scale,
                            simulate as simulate, validate as validate)
    from ._errors import Problem as Problem, RequestError as RequestError
    from ._results import Record as Record, Records as Records, Result as Result
    from ._sweep import sweep as sweep
    from ._table import Table as Table

# Nothing is loaded before it is asked for: a program that is recorded imports headway.record alone.
_COMMANDS = ("advise", "bench", "calibrate", "comms", "design", "infer", "jobs", "limits", "list", "plan",
             "predict", "scale", "simulate", "validate")
_HOMES = {
    "_commands": (*_COMMANDS, *(name.capitalize() + "Fields" for name in ("run", "serving", *_COMMANDS))),
    "_errors": ("Problem", "RequestError"),
    "_results": ("Record", "Records", "Result"),
    "_sweep": ("sweep",),
    "_table": ("Table",),
}
__all__ = sorted(["record", *(name for names in _HOMES.values() for name in names)])


def __getattr__(name: str) -> Any:
    if name == "record":
        return importlib.import_module(".record", __name__)
    if name == "__version__":
        from importlib.metadata import version
        return version("headway")
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(importlib.import_module("." + home, __name__), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'headway' has no attribute {name!r}")


def __dir__() -> Any:
    return [*__all__, "__version__"]
