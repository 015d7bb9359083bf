"""Lists that `headway replay` writes, and how a rank runs one: a call is handed to its stream, begins
when the one before it there and those of `after` are done, and is waited for where the list says so.
Nothing here knows torch; docs/replay.md describes the file.
"""

import collections
import json


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
    """Runs the items of one rank over a transport: begin(item) -> handle, done(handle) -> bool,
    call(item), meet(group). `compute(item, meanwhile)` calls meanwhile() as often as it can."""

    def __init__(self, items, transport, compute):
        self.items, self.transport, self.compute = items, transport, compute
        self.calls = [item for item in items if "call" in item]

    def _ready(self, call):
        return all(self.done[other] for other in self.calls[call].get("after", ()))

    def _begin(self, call):
        self.running.append((call, self.transport.begin(self.calls[call])))

    def _begin_next(self, stream):
        waiting = self.waiting[stream]
        if waiting and stream not in self.busy and self._ready(waiting[0]):
            self.busy.add(stream)
            self._begin(waiting.popleft())

    def progress(self):
        ended = [at for at in self.running if self.transport.done(at[1])]
        if not ended:
            return
        self.running = [at for at in self.running if at not in ended]
        for call, _ in ended:
            self.done[call] = True
            self.busy.discard(self.calls[call]["stream"])
        for stream in list(self.waiting):
            self._begin_next(stream)
        for call in [call for call in self.beside if self._ready(call)]:
            self.beside.remove(call)
            self._begin(call)

    def step(self):
        self.done = [False] * len(self.calls)
        self.running, self.beside, self.busy = [], [], set()
        self.waiting = collections.defaultdict(collections.deque)
        called = 0
        for item in self.items:
            if "call" in item:
                if item["stream"] != "beside":
                    self.waiting[item["stream"]].append(called)
                    self._begin_next(item["stream"])
                elif self._ready(called):
                    self._begin(called)
                else:
                    self.beside.append(called)
                called += 1
            elif "compute" in item:
                self.compute(item, self.progress)
            elif "wait" in item:
                while not self.done[item["wait"]]:
                    self.progress()
        while not all(self.done):
            self.progress()

    def single(self):
        for item in self.calls:
            self.transport.meet(item["group"])
            self.transport.call(item)
