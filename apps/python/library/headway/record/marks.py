"""Marks of steps, for this recorder and those that are libraries of C."""
import ctypes

from . import session

_step_of_libraries = None


def step():
    if session.current is not None:
        with session.current.guarded():
            session.current.step()
    _libraries()()


def _libraries():
    """headway_record_step of what `headway record` loads before a program, where it did."""
    global _step_of_libraries
    if _step_of_libraries is None:
        try:
            _step_of_libraries = ctypes.CDLL(None).headway_record_step
        except (OSError, AttributeError):
            _step_of_libraries = _nothing
    return _step_of_libraries


def _nothing():
    pass
