"""Records on their way to a file: a bounded queue, a thread that writes it, and the file, whole at any
moment. Who records never waits: what the queue or the disk cannot take is lost and counted."""
import collections
import os
import threading

from . import record_file
from .count import Count

QUEUE = 65536          # records that may wait for the thread
EVERY_S = 0.02         # between two visits of the thread
TOGETHER = 1024        # records of one write


class Writer:
    def __init__(self, path, said, rotate_bytes=0):
        """Begins `path`.hwr; OSError where it cannot, FileExistsError where it is there."""
        self._path = path
        self._header = record_file.header(said)
        self._rotate_bytes = rotate_bytes
        self._queue = collections.deque()
        self._texts = []
        self._lock = threading.Lock()  # of the file
        self._number = 0
        self._lost = 0
        self._lost_before = 0  # as files say that are ended: a reader adds up
        self._said_lost = 0    # as this file says
        # Records that came, and of them those that are in files before this one, that are in this one, or lost.
        self._count = Count()
        self._taken_before = self._taken = self._records_lost = 0
        self._file = self._size = None
        self._open_next()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write_on, name="headway record", daemon=True)
        self._thread.start()

    def put(self, record):
        if len(self._queue) < QUEUE:
            self._queue.append(record)
        else:
            self._records_lost += 1
            self._lost += 1
        self._count.one_more()

    def put_text(self, said, key=None):
        """Stands in every file of the rank; a later one of the same key takes its place in those."""
        text = record_file.text(said)
        with self._lock:
            if key is not None:
                self._texts = [known for known in self._texts if known[0] != key]
            self._texts.append((key, text))
            if self._file is not None and not self._append(text):
                self._lost += 1

    def end(self):
        """Writes all and ends the file."""
        self._ended.set()
        with self._lock:
            if self._file is not None:
                self._drain()
                self._close_whole()
                self._count.leave()

    def abandon(self):
        """In the child of a fork, which has neither the thread nor the right to the file."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ended.set()
        self._queue = collections.deque()
        self._count.leave()
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def _open_next(self):
        name = f"{self._path}.hwr" if self._number == 0 else f"{self._path}.{self._number}.hwr"
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        before = self._file, self._size
        self._file, self._size = file, 0
        if not self._append(self._header + record_file.state(0, False, self._elsewhere())):
            os.close(file)
            self._file, self._size = before
            raise OSError("the disk is full")
        for _, text in self._texts:
            if not self._append(text):
                self._lost += 1
        self._count.show_in(file, len(self._header))

    def _append(self, data):
        """All or nothing: after a failure the file is as long as before."""
        written = 0
        try:
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._size + written)
        except OSError:
            try:
                os.ftruncate(self._file, self._size)
            except OSError:
                pass
            return False
        self._size += len(data)
        return True

    def _lost_now(self):
        """Of all that was lost what no ended file says."""
        return self._lost - self._lost_before

    def _elsewhere(self):
        return self._taken_before + self._records_lost

    def _write_state(self, whole):
        self._said_lost = self._lost_now()
        state = record_file.state(self._said_lost, whole, self._elsewhere())
        behind = record_file.COUNT.size  # which is the count's
        try:
            os.pwrite(self._file, state[behind:], len(self._header) + behind)
        except OSError:
            pass

    def _close_whole(self):
        self._write_state(True)
        self._lost_before += self._said_lost
        self._said_lost = 0
        os.close(self._file)
        self._file = None

    def _rotate(self):
        if not self._rotate_bytes or self._size < self._rotate_bytes:
            return
        full = self._file, self._size, self._taken
        self._number += 1
        self._taken_before, self._taken = self._taken_before + self._taken, 0
        try:
            self._open_next()
        except OSError:  # goes on in the one there is
            self._number -= 1
            self._taken_before, self._taken = self._taken_before - full[2], full[2]
            return
        fresh = self._file, self._size
        self._file, self._size = full[:2]
        self._close_whole()
        self._file, self._size = fresh

    def _drain(self):
        """Under the lock: everything that came is in the file, or lost and counted."""
        while self._queue:
            records = []
            while len(records) < TOGETHER:
                try:
                    records.append(self._queue.popleft())
                except IndexError:
                    break
            if records and self._append(b"".join(records)):
                self._taken += len(records)
            else:
                self._records_lost += len(records)
                self._lost += len(records)
            self._rotate()
            if len(records) < TOGETHER:
                break
        if self._lost_now() != self._said_lost:
            self._write_state(False)

    def _write_on(self):
        while not self._ended.wait(EVERY_S):
            if self._queue or self._lost_now() != self._said_lost:
                with self._lock:
                    if self._file is not None:
                        self._drain()
