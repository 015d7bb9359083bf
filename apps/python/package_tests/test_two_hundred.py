"""Two hundred requests through every door: command line, HTTP and Python give the same bytes."""
import itertools
import json
import os
import random
import subprocess
import urllib.error
import urllib.request

import headway as hw
import pytest
from conftest import flags

MODELS = ["llama-2-7b", "llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b", "deepseek-v3", "gpt3-175b"]
CLUSTERS = ["dgx-h100", "dgx-a100-80gb", "tpu-v4"]


def requests():
    draw = random.Random(24)
    out = []
    for i in range(160):  # some are illegal, some do not fit
        fields = dict(model=draw.choice(MODELS), cluster=draw.choice(CLUSTERS), gpus=draw.choice([8, 64, 512]),
                      seq=draw.choice([2048, 8192]), global_batch=draw.choice([64, 512, 1000]))
        for name, values in (("tp", [2, 8, 3]), ("pp", [2, 4]), ("micro_batch", [1, 2]),
                             ("recompute", ["full", "selective"]), ("zero", [1, 3])):
            if draw.random() < 0.4:
                fields[name] = draw.choice(values)
        out.append(("predict", [], fields))
    small = dict(model="llama-3.1-8b", cluster="dgx-h100", gpus=16, seq=4096, global_batch=64)
    for gpus, top in itertools.product([8, 16], [1, 3, 5]):
        out.append(("plan", [], dict(small, gpus=gpus, top=top)))
    for tp in (1, 2, 4, 8):
        out.append(("comms", [], dict(small, tp=tp)))
        out.append(("simulate", [], dict(small, tp=tp)))
        out.append(("scale", ["strong"], dict(small, tp=tp, at="16,32")))
        out.append(("scale", ["run"], dict(small, tp=tp, tokens="2T")))
    for gpu in ("h100-sxm", "a100-sxm", "v100-sxm"):
        out.append(("limits", [], dict(gpu=gpu)))
    for tp, batch in itertools.product([1, 2], [1, 8, 64]):
        out.append(("infer", [], dict(model="llama-3.1-8b", cluster="dgx-h100", gpus=tp, tp=tp, batch=batch,
                                      input_len=1024, output_len=128)))
    for what in (
        "models",
        "clusters",
        "accelerators",
        "machines",
        "methods",
        "fields",
        "schemas",
    ):
        out.append(("list", [what], {}))
    out += [("validate", [], dict(by=by)) for by in ("source", "accelerator", "framework")]
    return out


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


SELECTORS = {"scale": "sweep", "list": "what"}


def test_two_hundred_requests_are_answered_alike_through_all_doors(program, served):
    asked = requests()
    assert len(asked) >= 200
    refused = 0
    for command, words, fields in asked:
        request = {name.replace("_", "-"): value for name, value in fields.items()}
        if words:
            request[SELECTORS[command]] = words[0]
        by_http = served(command, request)
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
    assert 10 < refused < 150  # both kinds were asked
