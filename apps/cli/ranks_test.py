"""Commands by the ranks of MPI: the bytes of the command alone for any number of ranks, also after a rank was killed.

    ranks_test.py PROGRAM    (built with -DHEADWAY_MPI=ON)
"""
import csv
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
RUN = "--model llama-2-70b --cluster dgx-h100 --seq 4096".split()
PLAN = ["plan", *RUN, *"--gpus 256 --global-batch 1024 --json".split()]
LARGE = ["plan", *"--model deepseek-v3 --cluster dgx-h100 --gpus 2048 --seq 4096 --global-batch 15360 --json".split()]


def alone(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True)


def command_of(ranks, *arguments):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), PROGRAM, *arguments, "--mpi"]


def by_ranks(ranks, *arguments):
    return subprocess.run(command_of(ranks, *arguments), capture_output=True)


class Ranks(unittest.TestCase):
    def test_any_number_of_ranks_and_parts_gives_the_bytes_of_the_command_alone(self):
        expected = alone(*PLAN).stdout
        self.assertIn(b'"best"', expected)
        for ranks, parts in ((1, 64), (2, 64), (3, 5), (5, 3), (2, 1)):
            found = by_ranks(ranks, *PLAN, "--mpi-parts", str(parts))
            self.assertEqual(found.stdout, expected, (ranks, parts, found.stderr))

    def test_every_command_whose_work_has_parts_is_divided(self):
        commands = [
            ["scale", "strong", *"--model llama-2-7b --cluster dgx-h100 --seq 4096 --global-batch 256".split(),
             *"--gpus 16 --at 16,32,64 --best --json".split()],
            ["limits", "--gpu", "h100-sxm", "--sensitivity", "--json"],
            ["infer", *"--model llama-3.1-8b --cluster dgx-h100 --gpus 8 --input-len 1024 --output-len 128".split(),
             "--best", "--json"],
        ]
        for command in commands:
            expected = alone(*command)
            self.assertEqual(expected.returncode, 0, expected.stderr)
            for ranks in (1, 2, 3):
                found = by_ranks(ranks, *command, "--mpi-parts", "6")
                self.assertEqual(found.stdout, expected.stdout, (command, ranks, found.stderr))

    def test_where_nothing_fits_the_exit_code_is_that_of_the_command_alone(self):
        command = ["plan", *"--model llama-3.1-405b --cluster dgx-h100 --gpus 8 --seq 8192 --global-batch 64 --json".split()]
        expected, found = alone(*command), by_ranks(2, *command, "--mpi-parts", "4")
        self.assertEqual((expected.returncode, found.returncode), (1, 1))
        self.assertEqual(found.stdout, expected.stdout)

    def test_after_a_kill_of_a_rank_it_goes_on_and_does_no_part_twice(self):
        expected = alone(*LARGE).stdout
        with tempfile.TemporaryDirectory() as folder:
            done, times = os.path.join(folder, "done"), os.path.join(folder, "times.csv")
            more = ("--mpi-parts", "24", "--mpi-done", done)
            job = subprocess.Popen(command_of(2, *LARGE, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while len(list(pathlib.Path(done).glob("part-*.json")) if os.path.isdir(done) else []) < 3:
                self.assertIsNone(job.poll(), "ended before it could be killed")
                time.sleep(0.05)
            # The last rank of this job, and no other: by its parent.
            ranks = subprocess.run(["ps", "-o", "pid=", "--ppid", str(job.pid)], capture_output=True, text=True)
            os.kill(int(ranks.stdout.split()[-1]), signal.SIGKILL)
            out, said = job.communicate()
            self.assertNotEqual(job.returncode, 0)
            self.assertEqual(out, b"")
            self.assertIn(b"rank 1", said)  # mpirun says which
            there = {path.name for path in pathlib.Path(done).glob("part-*.json")}
            self.assertTrue(3 <= len(there) < 24)

            again = by_ranks(2, *LARGE, *more, "--mpi-times", times)
            self.assertEqual(again.stdout, expected, again.stderr)
            self.assertIn(f"{len(there)} of 24 parts are done already".encode(), again.stderr)
            with open(times, newline="") as file:
                worked = [f"part-{row['part']}-of-24.json" for row in csv.DictReader(file)]
            self.assertEqual(sorted(worked + sorted(there)), sorted({*worked, *there}))
            self.assertEqual(len({*worked, *there}), 24)

    def test_parts_of_another_request_or_damaged_ones_are_refused(self):
        with tempfile.TemporaryDirectory() as done:
            first = by_ranks(2, *PLAN, "--mpi-parts", "4", "--mpi-done", done)
            self.assertEqual(first.returncode, 0)
            pathlib.Path(done, "part-2-of-4.json").unlink()
            other = [*PLAN, "--top", "3"]
            found = by_ranks(2, *other, "--mpi-parts", "4", "--mpi-done", done)
            self.assertEqual((found.returncode, found.stdout), (2, b""))
            self.assertIn(b"is of another request", found.stderr)
            found = by_ranks(2, *PLAN, "--mpi-parts", "8", "--mpi-done", done)
            self.assertEqual(found.returncode, 2)
            self.assertIn(b"go on with --mpi-parts 4", found.stderr)
            pathlib.Path(done, "part-1-of-4.json").write_text("{}")
            found = by_ranks(2, *PLAN, "--mpi-parts", "4", "--mpi-done", done)
            self.assertEqual((found.returncode, found.stdout), (2, b""))
            self.assertIn(b"part-1-of-4.json", found.stderr)

    def test_what_cannot_be_divided_or_is_wrong_is_said_once(self):
        found = by_ranks(2, "plan", *RUN, "--gpus", "7000000", "--global-batch", "1024")
        self.assertEqual((found.returncode, found.stdout), (2, b""))
        self.assertEqual(found.stderr.count(b"7,000,000"), 1, found.stderr)
        found = alone(*PLAN, "--mpi", "--shard", "1/2")
        self.assertEqual(found.returncode, 2)
        self.assertIn(b"give one of them", found.stderr)


if __name__ == "__main__":
    unittest.main()
