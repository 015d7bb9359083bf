"""How many records came, in a word of the file that the kernel keeps when the process is killed [RECORD-7]."""
import itertools
import mmap
import os

from .record_file import COUNT

PAGE = mmap.ALLOCATIONGRANULARITY
# Where a page that is there needs no room on the disk again, and its write waits for no server.
KEEP_PAGES = ("ext2", "ext3", "ext4", "xfs", "tmpfs")


def keeps_pages(file):
    device = os.fstat(file).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            lines = [line.partition(" - ") for line in mounts]
    except OSError:
        return False
    return any(what.split()[2] == number and how.split()[0] in KEEP_PAGES for what, _, how in lines)


class Count:
    def __init__(self):
        self._numbers = itertools.count(1)
        self._shown = None  # memory of the file that is open, and the place in it

    def show_in(self, file, at):
        """From the next record on. `at`: a multiple of 64, where the file has its state."""
        self.leave()
        if not keeps_pages(file):
            return
        try:
            self._shown = mmap.mmap(file, at % PAGE + COUNT.size, offset=at // PAGE * PAGE), at % PAGE
        except (OSError, ValueError):
            pass

    def one_more(self):
        """Of threads that count at the same time the last of each but one may be missing."""
        number, shown = next(self._numbers), self._shown
        if shown is not None:
            COUNT.pack_into(*shown, number)

    def leave(self):
        self._shown = None
