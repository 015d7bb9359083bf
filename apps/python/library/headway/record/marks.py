"""Marks of steps, for this recorder and those that are libraries of C."""
import ctypes
import os

from . import session

_step_of_libraries = None
_answer = None  # what a library calls has to stay alive


def step():
    _step_here()
    _libraries()()


def _step_here():
    if session.current is not None:
        with session.current.guarded():
            session.current.step()


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


def await_ranges():
    """The library that sees ranges of NVTX (`--step-range`) tells the other libraries by itself."""
    global _answer
    path = os.environ.get("NVTX_INJECTION64_PATH", "")
    if _answer is not None or not os.environ.get("HEADWAY_RECORD_STEP_RANGE") or not path:
        return
    try:
        tell = ctypes.CDLL(path).headway_nvtx_tell
    except (OSError, AttributeError) as error:
        session.say(f"ranges of NVTX mark no steps: {error}")
        return
    _answer = ctypes.CFUNCTYPE(None)(_step_here)
    tell(_answer)
