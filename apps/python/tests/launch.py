#!/usr/bin/env python3
"""Starts a program once a rank, as torchrun does: that of Debian's torch 1.13 does not run on its Python.

    launch.py RANKS PORT PROGRAM ARGS...
"""
import os
import subprocess
import sys


def main(ranks, port, *program):
    started = [subprocess.Popen([sys.executable, *program], env=dict(
        os.environ, RANK=str(rank), WORLD_SIZE=ranks, LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=ranks,
        MASTER_ADDR="127.0.0.1", MASTER_PORT=port)) for rank in range(int(ranks))]
    return max(process.wait() for process in started)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
