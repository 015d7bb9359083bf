"""A hundred thousand runs as files, and questions to them in SQL: pip install headway duckdb pyarrow.

    python large_sweep.py [ROWS]
"""
import sys

import duckdb
import headway as hw
import numpy as np

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
draw = np.random.default_rng(1)
swept = hw.sweep(dict(model="llama-2-70b", cluster="dgx-h100"), {
    "gpus": draw.choice([64, 128, 256, 512], rows), "tp": draw.choice([1, 2, 4, 8], rows),
    "pp": draw.choice([1, 2, 4], rows), "global_batch": draw.choice([512, 1024], rows),
    "seq": draw.choice(np.arange(1024, 9216, 64), rows)}, grid=False).compact()
swept.to_parquet("sweep.parquet")
swept.to_sqlite("sweep.sqlite")

print(duckdb.sql("""
    SELECT gpus, count(*) AS runs, arg_max(row(tp, pp, seq), mfu) AS best, max(mfu) AS mfu
    FROM 'sweep.parquet' WHERE fits GROUP BY gpus ORDER BY gpus"""))
print(duckdb.sql("SELECT problem, count(*) AS runs FROM swept WHERE problem <> '' GROUP BY problem"))  # in memory
