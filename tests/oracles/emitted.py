#!/usr/bin/env python3
"""Has Megatron-LM's own parser judge what `headway predict --emit megatron` writes.

    emitted.py HEADWAY   emits runs of different kinds; parses and validates each; exits with 1 where one is refused

Each script is run with a torchrun that only notes its arguments, which parse_args and validate_args of
megatron/training/arguments.py then read. Needs torch and megatron-core 0.19 or later (PyPI; 0.16 does not
hold megatron/training; Python 3.12), and no accelerator. What is written is of core 0.15, whose options later
versions still know.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import types
import warnings

warnings.filterwarnings("ignore")

import torch  # noqa: E402

WORLD = 64
RUN = ["--gpus", str(WORLD), "--seq", "2048", "--global-batch", "512", "--framework", "megatron"]
MODELS = ["llama-2-7b", "gpt3-1.3b", "qwen2.5-7b", "qwen3-8b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite", "deepseek-v3"]
# Not among them: --fused-loss on, whose kernel of Transformer Engine later versions refuse.
LAYOUTS = [
    "",
    "--tp 4",
    "--tp 4 --no-sp",
    "--tp 2 --pp 4",
    "--pp 4 --vpp 2",
    "--cp 2 --tp 2",
    "--cp 2 --cp-exchange all-to-all",
    "--zero 0 --recompute full",
    "--recompute selective --tp 2",
    "--recompute full --recompute-every 2 --pp 2",
    "--zero 3",
    "--zero 1 --shard 8",
    "--precision fp16 --attention unfused",
    "--precision fp8 --tp 2",
    "--precision fp8-current",
    "--precision fp8-block",
    "--unfused",
    "--pp 4 --embedding-slots 1 --head-slots 1",
    "--pp 2 --offload optimizer",
    "--dropout 0.1 --small-gradients",
    "--graphs dense",
    "--graphs step",
    "--task finetune",
    "--optimizer muon --zero 0",
    "--ep 8",
    "--ep 4 --tp 2 --etp 2",
    "--ep 8 --pp 2",
    "--ep 8 --dispatch once",
]


def emitted(headway, words):
    """The script, or None where Headway says that Megatron-LM cannot express the run."""
    done = subprocess.run([headway, "predict", *words, "--emit", "megatron"], capture_output=True, text=True)
    return done.stdout if done.stdout.startswith("#!") else None


def arguments_of(script):
    """What the script sets of the environment, and what it hands to the program."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "torchrun"), "w") as file:
            file.write('#!/bin/sh\nprintf "%s\\0" "$CUDA_DEVICE_MAX_CONNECTIONS" "$@"\n')
        os.chmod(os.path.join(folder, "torchrun"), 0o755)
        env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "MASTER_ADDR": "localhost"}
        env.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
        said = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=True).stdout
    connections, *words = said.split("\0")[:-1]
    return connections, words[words.index("pretrain_gpt.py") + 1:]


def refusal(connections, arguments):
    """What Megatron-LM has against them; None where it takes them."""
    from megatron.training import arguments as megatron

    os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = connections
    if not connections:
        del os.environ["CUDA_DEVICE_MAX_CONNECTIONS"]
    said = io.StringIO()
    sys.argv = ["pretrain_gpt.py", *arguments]
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            megatron.validate_args(megatron.parse_args())
    except SystemExit:
        return said.getvalue().strip().splitlines()[-1]
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def main():
    headway = os.path.abspath(sys.argv[1])
    os.environ.update(WORLD_SIZE=str(WORLD), RANK="0")
    # The runs are on H100.
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=9, minor=0)
    taken = inexpressible = 0
    refused = []
    for model in MODELS:
        for layout in LAYOUTS:
            words = ["--model", model, "--cluster", "dgx-h100", *RUN, *layout.split()]
            script = emitted(headway, words)
            if script is None:
                inexpressible += 1
                continue
            problem = refusal(*arguments_of(script))
            if problem is None:
                taken += 1
            else:
                refused.append(f"{model} {layout}: {problem}")
    print("\n".join(refused))
    print(f"taken {taken}, refused {len(refused)}, not written {inexpressible}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
