"""Long work: it is told of, it can be stopped, and other threads run meanwhile."""
import os
import signal
import subprocess
import sys
import threading
import time

import headway as hw
import pytest

LONG = dict(model="llama-3.1-405b", cluster="dgx-h100", gpus=2048, seq=8192, global_batch=2048)


def test_progress_is_told_and_what_it_raises_comes_through():
    told = []
    hw.validate(by="source", progress=lambda done, of: told.append((done, of)))
    assert all(0 <= done <= of for done, of in told)

    class Enough(Exception):
        pass

    def stop(done, of):
        raise Enough

    with pytest.raises(Enough):
        hw.plan(**LONG, exhaustive=True, progress=stop)


@pytest.mark.parametrize("command", ["hw.plan(**LONG, exhaustive=True)"])
def test_an_interrupt_stops_the_work(command):
    script = f"import headway as hw\nLONG = {LONG!r}\nprint('begun', flush=True)\n{command}"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == b"begun\n"
    time.sleep(0.5)
    begun = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert time.monotonic() - begun < 5


def test_other_threads_run_meanwhile():
    counted = [0]
    ended = threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    hw.validate(by="source")
    ended.set()
    counter.join()
    assert counted[0] > 3


def test_importing_is_nothing_until_something_is_asked_for():
    script = ("import sys, headway, headway.record\n"
              "assert not {'numpy', 'pandas', 'headway._engine', 'torch'} & set(sys.modules), sys.modules")
    subprocess.run([sys.executable, "-c", script], check=True)
