#!/usr/bin/env python3
"""Functions of headers of MPI that the recorder has no row for and local.txt does not name.

    unlisted.py HEADER...      prints them; exits 1 where there is one
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def recorded():
    """What calls.def comes to."""
    source = "#define CALL(row, form, since, function) @function@\n#include \"forms.def\"\n"
    made = subprocess.run(["cpp", "-P", f"-I{HERE}", "-"], input=source, capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"@\s*(MPI_\w+)\s*@", made))


def local():
    lines = (HERE / "local.txt").read_text(encoding="utf-8").splitlines()
    return [name for line in lines if not line.startswith("#") for name in line.split()]


def declared(headers):
    """By the profiling interface, which has a twin of every function. MPIX_: of one MPI alone."""
    text = "".join(pathlib.Path(header).read_text(encoding="utf-8", errors="replace") for header in headers)
    return {name[1:] for name in re.findall(r"\b(PMPI_[A-Z]\w*)\s*\(", text)}


def main():
    functions, rows, known = declared(sys.argv[1:]), recorded(), local()
    if len(functions) < 300:
        sys.exit(f"only {len(functions)} functions of MPI in {' '.join(sys.argv[1:]) or 'no header'}")
    left = sorted(name for name in functions - rows
                  if not any(fnmatch.fnmatchcase(name, pattern) for pattern in known))
    print("\n".join(left))
    both = sorted(name for name in rows if any(fnmatch.fnmatchcase(name, pattern) for pattern in known))
    sys.exit(f"recorded and in local.txt: {' '.join(both)}" if both else 1 if left else 0)


if __name__ == "__main__":
    main()
