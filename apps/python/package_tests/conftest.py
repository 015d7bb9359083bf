"""Tests of the Python package as it is installed. HEADWAY_PROGRAM: the program, where it is there."""
import os
import subprocess

import pytest
from two_hundred import flags  # noqa: F401: of the tests

RUN = dict(model="llama-3.1-8b", cluster="dgx-h100", gpus=16, seq=4096, global_batch=64)


@pytest.fixture
def run():
    return dict(RUN)


@pytest.fixture
def program():
    """The command line: its arguments in, its output as bytes out."""
    path = os.environ.get("HEADWAY_PROGRAM")
    if not path:
        pytest.skip("HEADWAY_PROGRAM does not say where the program is")
    return lambda *arguments: subprocess.run([path, *arguments], stdout=subprocess.PIPE).stdout

