"""From the first process group of a program to its end: when calls are recorded, and where."""
import atexit
import contextlib
import datetime
import json
import os
import socket
import sys
import threading
import time

from . import clock
from .calls import COUNTS, FUNCTIONS, Calls
from .groups import Groups
from .record_file import STEP, record
from .settings import Settings
from .writer import Writer

MOST_RUNS = 10_000
AGREE_S = 30  # that rank 0 may take to say where the files go

current = None
_begun = 0  # programs of this process: all ranks count alike


def say(words):
    print(f"headway record: {words}", file=sys.stderr)


class Session:
    def __init__(self, rank, world, library, store, settings):
        self.rank, self.world, self.settings = rank, world, settings
        self.records = settings.steps is None
        self.steps = 0
        self.groups = Groups(world)
        self.by_group = {}
        self.calls = Calls(self)
        self._capturing = lambda: False
        self._warned = False
        self._ended = threading.Event()
        self._answerer = None
        self._identity = {
            "rank": rank, "world": world, "host": socket.gethostname(), "pid": os.getpid(),
            "library": library, "clock": "monotonic", "began_ns": time.monotonic_ns(),
            "began_unix_s": int(time.time()), "counts": COUNTS, "functions": list(FUNCTIONS)}
        self.writer = self._agree(store)

    def _agree(self, store):
        """The files of the first program lie in the folder itself, those of later ones in run2, ..."""
        key = f"headway_record/{_begun}"
        if self.rank == 0:
            writer, run = self._first_free(1)
            self._tell(store, key, run)
            return writer
        said = self._told(store, key)
        writer = self._begin_in(said["run"]) if said else self._first_free(1)[0]
        if said and said["clock"] and (self.settings.always_measure_clock or
                                       said["machine"] != clock.machine()):
            clock.measure_on(said["clock"], writer, self._ended)
        return writer

    def _tell(self, store, key, run):
        if store is None:
            return
        here = os.environ.get("LOCAL_WORLD_SIZE")
        if self.world > 1 and (self.settings.always_measure_clock or here != str(self.world)):
            try:
                self._answerer = clock.Answerer()
            except OSError as error:
                say(f"clocks are not compared: {error}")
        store.set(key, json.dumps({"run": run, "machine": clock.machine(),
                                   "clock": self._answerer.said() if self._answerer else None}))

    def _told(self, store, key):
        if store is None:
            return None
        try:
            store.wait([key], datetime.timedelta(seconds=AGREE_S))
            return json.loads(store.get(key))
        except (RuntimeError, ValueError):
            say(f"rank {self.rank} hears nothing of rank 0: is it recorded?")
            return None

    def _begin_in(self, run):
        folder = self.settings.folder if run == 1 else os.path.join(self.settings.folder, f"run{run}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return Writer(os.path.join(folder, f"rank{self.rank}"), self._identity, self.settings.rotate_bytes)

    def _first_free(self, run):
        while True:
            try:
                return self._begin_in(run), run
            except FileExistsError:
                run += 1
                if run > MOST_RUNS:
                    raise

    def add_group(self, process_group, ranks, backend):
        group = self.by_group[process_group] = self.groups.make(ranks, backend)
        self.writer.put_text(group.said())
        return group

    def is_capturing(self):
        """Whether the device's stream only notes down what is called, to run it later and again."""
        return self._capturing()

    def set_capturing(self, asked):
        self._capturing = asked

    def step(self):
        self.records = self.settings.keeps_step(self.steps)
        if self.records:
            self.writer.put(record(STEP, start_ns=time.monotonic_ns(), size=self.steps))
        self.steps += 1

    @contextlib.contextmanager
    def guarded(self):
        """What goes wrong here is said once, and nothing that the program should see."""
        try:
            yield
        except Exception as error:  # of whatever kind
            if not self._warned:
                self._warned = True
                say(f"rank {self.rank}: calls are missing: {type(error).__name__}: {error}")

    def end(self):
        self._ended.set()
        if self._answerer:
            self._answerer.end()
        self.calls.end()
        self.writer.end()
        if self.rank == 0 and self.settings.steps is not None and self.steps == 0:
            say("the program marked no step (headway.record.step), so that none of --steps was recorded")


def begin(rank, world, library, store, folder=None):
    """A program begins: the session of its calls, or None, said why."""
    global current, _begun
    end()
    settings = Settings(folder)
    if not settings.folder:
        return None
    _begun += 1
    try:
        current = Session(rank, world, library, store, settings)
    except Exception as error:
        say(f"rank {rank} is not recorded: {settings.folder}: {error}")
        current = None
    return current


def end():
    global current
    ending, current = current, None
    if ending is not None:
        with ending.guarded():
            ending.end()


def _in_child():
    global current
    if current is not None:
        current.writer.abandon()
    current = None


atexit.register(end)
os.register_at_fork(after_in_child=_in_child)
