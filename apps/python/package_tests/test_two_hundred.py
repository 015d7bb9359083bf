"""Two hundred requests through every door: command line, HTTP, Python, and where they are built WebAssembly and MPI,
give the same bytes."""
import json
import os
import pathlib
import subprocess
import urllib.error
import urllib.request

import headway as hw
import pytest
from two_hundred import alike_but_for_libm, document_of, flags, has_parts, requests


@pytest.fixture
def served():
    path = os.environ.get("HEADWAY_PROGRAM")
    if not path:
        pytest.skip("HEADWAY_PROGRAM does not say where the program is")
    server = subprocess.Popen([path, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    address = ""
    while "http://" not in address:
        address = server.stdout.readline().decode()
    base = "http://" + address.split("http://")[1].split()[0].rstrip("/.,")

    def post(command, request):
        asked = urllib.request.Request(f"{base}/api/{command}", json.dumps(request).encode(),
                                       {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(asked) as answer:
                return answer.read()
        except urllib.error.HTTPError as refused:
            return refused.read()

    yield post
    server.terminate()
    server.wait()


@pytest.fixture
def in_wasm():
    """The engine of the static site, HEADWAY_SITE; None where it is not built."""
    site = os.environ.get("HEADWAY_SITE")
    if not site:
        yield None
        return
    web = pathlib.Path(__file__).parents[3] / "web"
    engine = subprocess.Popen([web / "node_modules/.bin/vite-node", "tests/engineDoor.ts",
                               os.path.abspath(f"{site}/engine.wasm.zst")],
                              cwd=web, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(command, request):
        engine.stdin.write(json.dumps({"command": command, "request": request}).encode() + b"\n")
        engine.stdin.flush()
        return json.loads(engine.stdout.readline())["text"].encode()

    yield ask
    engine.stdin.close()
    engine.wait()


def by_mpi(command, words, fields):
    """By two ranks of HEADWAY_MPI_PROGRAM, where the work of the command has parts; else None."""
    path = os.environ.get("HEADWAY_MPI_PROGRAM")
    if not path or not has_parts(command, fields):
        return None
    ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    done = subprocess.run([*ranks, path, command, *words, *flags(fields), "--json", "--mpi", "--mpi-parts", "7"],
                          stdout=subprocess.PIPE)
    assert done.returncode in (0, 1), fields  # 1: nothing fits
    return done.stdout


def test_two_hundred_requests_are_answered_alike_through_all_doors(program, served, in_wasm):
    asked = requests()
    assert len(asked) >= 200
    refused, by_parts = 0, 0
    for command, words, fields in asked:
        request = document_of(command, words, fields)
        by_http = served(command, request)
        if in_wasm is not None:
            assert alike_but_for_libm(in_wasm(command, request).decode(), by_http.decode()), request
        try:
            by_python = getattr(hw, command)(*words, **fields).to_json()
        except hw.RequestError as error:
            refused += 1
            said = [(p["where"], p["message"]) for p in json.loads(by_http)["problems"]]
            assert said == [(p.path, p.message) for p in error.problems][:10], request
            assert program(command, *words, *flags(fields), "--json") == b"", request
            continue
        assert by_python.encode() == by_http, request
        assert by_python.encode() == program(command, *words, *flags(fields), "--json"), request
        by_ranks = by_mpi(command, words, fields)
        assert by_ranks is None or by_ranks == by_http, request
        by_parts += by_ranks is not None
    assert 10 < refused < 150  # both kinds were asked
    assert by_parts >= 14 or not os.environ.get("HEADWAY_MPI_PROGRAM")
