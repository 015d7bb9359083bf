"""How long Headway takes from Python: one forecast, and a sweep of many. Medians of five.

    python apps/python/bench.py [ROWS]     in an environment that has the package
"""
import statistics
import sys
import time

import headway as hw
import numpy as np

RUN = dict(model="llama-2-70b", cluster="dgx-h100", gpus=64, seq=4096, global_batch=512, tp=8, pp=2)


def seconds(work, times=1):
    found = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(times):
            work()
        found.append((time.perf_counter() - begun) / times)
    return statistics.median(found)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    hw.predict(**RUN)
    print(f"predict: {1e6 * seconds(lambda: hw.predict(**RUN).step_time_s, 2000):.1f} us")
    print(f"predict, and its whole document: {1e6 * seconds(lambda: hw.predict(**RUN).to_dict(), 200):.0f} us")
    draw = np.random.default_rng(1)
    fields = {"gpus": draw.choice([64, 128, 256, 512], rows), "tp": draw.choice([1, 2, 4, 8], rows),
              "pp": draw.choice([1, 2, 4], rows), "global_batch": draw.choice([512, 1024], rows),
              "seq": draw.choice(np.arange(1024, 9216, 64), rows)}
    print(f"sweep of {rows:,} rows: {seconds(lambda: hw.sweep(RUN, fields, grid=False)):.2f} s")


main()
