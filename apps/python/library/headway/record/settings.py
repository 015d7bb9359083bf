"""What the recorder was told, by the variables that `headway record` sets; as
apps/recorder/file/settings.hpp reads them. What cannot be read is as if it was not there."""
import os

from . import record_file


def _number(name):
    try:
        return max(0, int(os.environ.get(name, "0")))
    except ValueError:
        return 0


def _steps(said):
    first, dots, last = said.partition("..")
    try:
        return int(first), int(last if dots else first)
    except ValueError:
        return None


# The recorder of NCCL in this process: before it as a library, or in it as its plugin.
NCCL_RECORDERS = ("/libheadway_nccl.so", "/libnccl-profiler-headway.so")


def nccl_is_recorded():
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any(line.rstrip("\n").endswith(NCCL_RECORDERS) for line in maps)
    except OSError:
        return False


class Settings:
    def __init__(self, folder=None):
        self.folder = folder or os.environ.get("HEADWAY_RECORD", "")
        self.min_bytes = _number("HEADWAY_RECORD_MIN_BYTES")
        self.rotate_bytes = _number("HEADWAY_RECORD_ROTATE")
        self.steps = _steps(os.environ.get("HEADWAY_RECORD_STEPS", "")) \
            if "HEADWAY_RECORD_STEPS" in os.environ else None
        names = os.environ.get("HEADWAY_RECORD_OPS")
        self.operations = None if names is None else {
            record_file.WAIT if name == "wait" else record_file.OP.get(name) for name in names.split(",")}
        self.leaves_to_nccl = nccl_is_recorded()
        self.always_measure_clock = os.environ.get("HEADWAY_RECORD_CLOCK") == "measure"

    def keeps(self, op, size):
        """Whether a call of this operation and size is asked for."""
        if self.operations is not None and op not in self.operations:
            return False
        return size >= self.min_bytes or op in (record_file.WAIT, record_file.OP["barrier"])

    def keeps_step(self, step):
        return self.steps is None or self.steps[0] <= step <= self.steps[1]
