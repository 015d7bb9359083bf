"""Lists as the script runs them, over a transport of this test: ranks are threads, a collective is done
when all of its ranks began it, a message when both of its ends are there."""

import collections
import json
import os
import tempfile
import threading
import time
import unittest

import headway_lists
import headway_place
import headway_recording


class Meetings:
    """What all ranks share."""

    def __init__(self, groups):
        self.groups, self.lock = groups, threading.Lock()
        self.begun = collections.defaultdict(list)  # of a key by rank: items
        self.order = collections.defaultdict(list)  # of a rank: names in the order of their begin


class Fake:
    def __init__(self, meetings, rank):
        self.shared, self.rank = meetings, rank
        self.counts = collections.Counter()

    def begin(self, item):
        with self.shared.lock:
            if item["call"] in ("send", "receive"):
                place = self.shared.groups[item["group"]]["ranks"].index(self.rank)
                ends = (place, item["peer"]) if item["call"] == "send" else (item["peer"], place)
                own = "p2p", item["group"], ends, item["tag"], item["call"]
                other = own[:4] + ("receive" if item["call"] == "send" else "send",)
                needed = [own, other]
            else:
                own = headway_lists.key_of(item) + (self.rank,)
                needed = [headway_lists.key_of(item) + (rank,)
                          for rank in self.shared.groups[item["group"]]["ranks"]]
            self.shared.begun[own].append(item["bytes"])
            self.shared.order[self.rank].append(item["bytes"])
            return len(self.shared.begun[own]) - 1, needed

    def pause(self, seconds):
        time.sleep(min(seconds, 1e-3))

    def done(self, handle):
        number, needed = handle
        with self.shared.lock:
            if any(len(self.shared.begun[key]) <= number for key in needed):
                return False
            sizes = {self.shared.begun[key][number] for key in needed}
            assert len(sizes) == 1, sizes
            return True


def run(groups, ranks):
    meetings = Meetings(groups)
    threads = [threading.Thread(target=headway_lists.Engine(items, Fake(meetings, r)).step,
                                daemon=True) for r, items in enumerate(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return meetings, not any(thread.is_alive() for thread in threads)


def call(op, size, stream, **more):
    return {"call": op, "group": 0, "bytes": size, "type": "fp32", "stream": stream, **more}


GROUPS = [{"name": "g", "ranks": [0, 1]}]


class Lists(unittest.TestCase):
    def test_a_stream_is_in_order_and_streams_are_not(self):
        first = [call("all_reduce", 1, 1), call("all_gather", 2, 2), call("all_reduce", 3, 1)]
        second = [call("all_gather", 2, 2), call("all_reduce", 1, 1), call("all_reduce", 3, 1)]
        meetings, ended = run(GROUPS, [first, second])
        self.assertTrue(ended)
        for order in meetings.order.values():
            self.assertLess(order.index(1), order.index(3))

    def test_what_is_after_a_call_begins_when_that_is_done(self):
        first = [call("all_reduce", 1, 1), call("all_gather", 2, 2, after=[0])]
        late = [{"compute": 0.2}] + first
        meetings, ended = run(GROUPS, [first, late])
        self.assertTrue(ended)
        self.assertEqual(meetings.order[0], [1, 2])

    def test_computation_has_a_clock_of_its_own_that_a_call_waits_for_and_a_wait_sets(self):
        # A call begins 0.1 s after it was handed over, and what is computed meanwhile goes on.
        items = [{"compute": 0.1}, call("all_reduce", 1, 1), {"compute": 0.1}, {"wait": 0},
                 {"compute": 0.1}]
        begin = time.monotonic()
        self.assertTrue(run(GROUPS, [items, items])[1])
        self.assertAlmostEqual(time.monotonic() - begin, 0.3, delta=0.09)

    def test_messages_of_any_streams_meet_by_ends_and_tag(self):
        beside = {"peer": 1, "tag": 5}
        sender = [call("send", 7, 3, **beside), {"wait": 0}]
        receiver = [call("receive", 7, "beside", peer=0, tag=5), {"wait": 0}]
        self.assertTrue(run(GROUPS, [sender, receiver])[1])

    def test_a_file_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps({"headway_list": 1, "ranks": 2, "groups": GROUPS}) + "\n")
                for rank in range(2):
                    file.write(json.dumps({"rank": rank}) + "\n")
                    file.write(json.dumps(call("all_reduce", 8, 0)) + "\n")
            header, ranks = headway_lists.read_list(path)
            self.assertEqual(header["groups"], GROUPS)
            self.assertEqual([len(items) for items in ranks], [1, 1])
            self.assertEqual(headway_lists.keys_of(ranks), [(0, 0)])
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"headway_list": 2, "ranks": 1}\n')
            with self.assertRaises(headway_lists.ListError):
                headway_lists.read_list(path)

    def test_the_place_of_a_rank_is_as_its_launcher_said_it(self):
        def place(ranks, **said):
            return headway_place.place_of({name: str(value) for name, value in said.items()}, ranks)

        self.assertIsNone(place(2))
        self.assertEqual(place(8, RANK=5, WORLD_SIZE=8, LOCAL_RANK=1), (5, 8, 1))
        self.assertEqual(place(4, OMPI_COMM_WORLD_RANK=2, OMPI_COMM_WORLD_SIZE=4,
                               OMPI_COMM_WORLD_LOCAL_RANK=0), (2, 4, 0))
        self.assertEqual(place(16, SLURM_PROCID=9, SLURM_NTASKS=16, SLURM_LOCALID=1), (9, 16, 1))
        # srun --mpi=pmi2 says the place on the machine in Slurm's words alone.
        self.assertEqual(place(16, PMI_RANK=9, PMI_SIZE=16, SLURM_PROCID=9, SLURM_NTASKS=16,
                               SLURM_LOCALID=1), (9, 16, 1))
        # mpirun in a batch script, whose own place is another's.
        self.assertEqual(place(2, PMI_RANK=1, PMI_SIZE=2, SLURM_PROCID=0, SLURM_NTASKS=1,
                               SLURM_LOCALID=0), (1, 2, 1))
        # A batch script, or a pod of one: it is to start the ranks.
        self.assertIsNone(place(2, SLURM_PROCID=0, SLURM_NTASKS=1, SLURM_LOCALID=0))
        self.assertIsNone(place(2, RANK=0, WORLD_SIZE=1))
        # A single rank that is one.
        self.assertEqual(place(1, RANK=0, WORLD_SIZE=1), (0, 1, 0))

    def test_a_place_that_does_not_fit_is_refused_with_what_to_set(self):
        for said, words in [({"RANK": "1"}, "RANK=1 needs WORLD_SIZE above it, which is not set"),
                            ({"RANK": "2", "WORLD_SIZE": "2"}, "which is 2"),
                            ({"PMI_RANK": "x", "PMI_SIZE": "2"}, "PMI_RANK=x needs"),
                            ({"SLURM_PROCID": "1", "SLURM_NTASKS": "8"},
                             "the list is of 4 ranks, srun started 8: start 4")]:
            with self.assertRaises(headway_place.PlaceError) as raised:
                headway_place.place_of(said, 4)
            self.assertIn(words, str(raised.exception))
            self.assertIn("RANK, WORLD_SIZE and LOCAL_RANK", str(raised.exception))

    def test_ranks_meet_where_they_were_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            of = os.path.join(folder, "new")
            self.assertEqual(headway_place.meeting_of({"HEADWAY_MEETING": "/m"}, of), "file:///m")
            self.assertEqual(headway_place.meeting_of({"MASTER_ADDR": "a", "MASTER_PORT": "1"}, of), "env://")
            self.assertEqual(headway_place.meeting_of({}, of), f"file://{of}/meeting")
            self.assertTrue(os.path.isdir(of))

    def test_a_recording_is_of_whole_records(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = headway_recording.Recording(0, 2, "test")
            recording.group(1, "g", [0, 1])
            recording.step(0, 5)
            recording.call(call("all_reduce", 8, 0), 1, 10, 20, 8)
            recording.write(folder)
            with open(os.path.join(folder, "rank0.hwr"), "rb") as file:
                self.assertIn(b'"headway_record":1', file.readline())
                self.assertEqual(len(file.read()) % 48, 0)
            self.assertEqual(os.stat(os.path.join(folder, "rank0.hwr")).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
