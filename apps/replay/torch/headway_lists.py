"""Lists that `headway replay` writes, and how a rank runs one: a call is handed to its stream, begins
when the one before it there and those of `after` are done, and is waited for where the list says so.
Nothing here knows torch; docs/replay.md describes the file.
"""

import collections
import json
import time


class ListError(Exception):
    pass


def read_list(path):
    """The header, with groups, and the items of each rank."""
    with open(path, encoding="utf-8") as file:
        header = json.loads(file.readline() or "{}")
        if header.get("headway_list") != 1:
            raise ListError(f"{path}: is no list of headway replay of version 1")
        ranks = []
        for number, line in enumerate(file, 2):
            item = json.loads(line)
            if "rank" in item:
                ranks.append([])
            elif not ranks:
                raise ListError(f"{path}:{number}: an item before the first rank")
            else:
                ranks[-1].append(item)
    if len(ranks) != header["ranks"]:
        raise ListError(f"{path}: has {len(ranks)} of {header['ranks']} ranks")
    return header, ranks


def key_of(item):
    """The communicator of a call: its group and stream; of sends and receives one for all streams."""
    return item["group"], -1 if item["call"] in ("send", "receive") else item["stream"]


def keys_of(ranks):
    """Those of all calls, in one order for all ranks."""
    used = {
        key_of(item)
        for items in ranks
        for item in items
        if "call" in item
    }
    return sorted(used)


class Engine:
    """Runs the items of one rank [LIVE-1] over a transport: begin(item) -> handle, done(handle) -> bool,
    call(item), meet(group), pause(seconds) until something may be done or so long. Computation is
    time on a clock of its own, as on a device that kernels are handed to beforehand, or made by
    `multiply(product, meanwhile)`, which calls meanwhile() as often as it can."""

    def __init__(self, items, transport, multiply=None):
        self.items, self.transport, self.multiply = items, transport, multiply
        self.calls = [item for item in items if "call" in item]

    def _ready(self, call):
        return self.handed[call] <= time.monotonic() and all(
            self.ended[other] is not None for other in self.calls[call].get("after", ()))

    def _begin(self, call):
        self.running.append((call, self.transport.begin(self.calls[call])))

    def _begin_next(self, stream):
        waiting = self.waiting[stream]
        if waiting and stream not in self.busy and self._ready(waiting[0]):
            self.busy.add(stream)
            self._begin(waiting.popleft())

    def progress(self):
        """Whether something was done."""
        done = [at for at in self.running if self.transport.done(at[1])]
        if done:
            self.running = [at for at in self.running if at not in done]
        for call, _ in done:
            self.ended[call] = time.monotonic()
            self.busy.discard(self.calls[call]["stream"])
        for stream in list(self.waiting):
            self._begin_next(stream)
        for call in [call for call in self.beside if self._ready(call)]:
            self.beside.remove(call)
            self._begin(call)
        return bool(done)

    def _until(self, holds):
        """Leaves the core to those who move bytes."""
        while not holds():
            if self.progress() or holds():
                continue
            now = time.monotonic()
            later = [self.handed[call] for call in self.beside] + \
                [self.handed[queue[0]] for queue in self.waiting.values() if queue] + [self.device]
            self.transport.pause(min([at - now for at in later if at > now], default=0.01))

    def _hand_over(self, call):
        self.handed[call] = self.device
        stream = self.calls[call]["stream"]
        if stream != "beside":
            self.waiting[stream].append(call)
            self._begin_next(stream)
        elif self._ready(call):
            self._begin(call)
        else:
            self.beside.append(call)

    def step(self):
        self.ended, self.handed = [None] * len(self.calls), [0.0] * len(self.calls)
        self.running, self.beside, self.busy = [], [], set()
        self.waiting = collections.defaultdict(collections.deque)
        self.device = time.monotonic()  # when all that it was given is computed
        called = 0
        for item in self.items:
            if "call" in item:
                self._hand_over(called)
                called += 1
            elif "compute" in item:
                if self.multiply and "product" in item:
                    self._until(lambda: self.device <= time.monotonic())
                    self.multiply(item["product"], self.progress)
                    self.device = time.monotonic()
                else:
                    self.device += item["compute"]
            elif "wait" in item:
                self._until(lambda: self.ended[item["wait"]] is not None)
                self.device = max(self.device, self.ended[item["wait"]])
        self._until(lambda: None not in self.ended)
        self._until(lambda: self.device <= time.monotonic())

    def single(self):
        for item in self.calls:
            self.transport.meet(item["group"])
            self.transport.call(item)
