"""Two hundred requests that every door is asked: (command, words behind it, fields)."""
import itertools
import json
import random
import re

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
        out.append(("scale", ["strong"], dict(small, gpus=8 * tp, at="16,32", best=True)))
    for gpu in ("h100-sxm", "a100-sxm", "v100-sxm"):
        out.append(("limits", [], dict(gpu=gpu)))
    out.append(("limits", [], dict(gpu="h100-sxm", sensitivity=True)))
    for gpus in (2, 4, 8):
        out.append(("infer", [], dict(model="llama-3.1-8b", cluster="dgx-h100", gpus=gpus, best=True,
                                      input_len=1024, output_len=128)))
    for tp, batch in itertools.product([1, 2], [1, 8, 64]):
        out.append(("infer", [], dict(model="llama-3.1-8b", cluster="dgx-h100", gpus=tp, tp=tp, batch=batch,
                                      input_len=1024, output_len=128)))
    for what in ("models", "clusters", "accelerators", "machines", "methods", "fields", "schemas"):
        out.append(("list", [what], {}))
    out += [("validate", [], dict(by=by)) for by in ("source", "accelerator", "framework")]
    return out


# The member of a document that stands for the word behind a command.
SELECTORS = {"scale": "sweep", "list": "what"}


def document_of(command, words, fields):
    """The request as documents ask it."""
    out = {name.replace("_", "-"): value for name, value in fields.items()}
    if words:
        out[SELECTORS[command]] = words[0]
    return out


def has_parts(command, fields):
    """Whether machines may divide the work (--shard, --mpi); of validate that of measured serving, which is not asked
    here, for its rows are a file."""
    return command == "plan" or bool(fields.get("best") or fields.get("sensitivity"))


def flags(fields):
    """The same fields as flags of the command line."""
    out = []
    for name, value in fields.items():
        out.append("--" + name.replace("_", "-"))
        if value is not True:
            out.append(value if isinstance(value, str) else json.dumps(value))
    return out


def furthest(one, other):
    """How far numbers of two texts are apart, as a share; None where more than numbers differ."""
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
    if number.sub("#", one) != number.sub("#", other):
        return None
    pairs = zip(map(float, number.findall(one)), map(float, number.findall(other)))
    return max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a != b), default=0.0)


def alike_but_for_libm(one, other):
    """Whether two texts are the same but for last digits, as where a C library rounds functions another way.

    Of those that these requests call, wasi-libc rounds hypot and log10 otherwise than glibc: of 852 different calls
    in `infer --best`, 6 of 69 and 1 of 8; none of exp, log and pow. hypot, which its intervals took, was the 3.5e-16 of
    three answers; they take a square root now, which is exact everywhere. log10 places the ticks of axes alone."""
    apart = furthest(one, other)
    return apart is not None and apart <= 1e-12
