"""The engine in WebAssembly answers as the program does, to the byte: two hundred requests, and traces.

    same_bytes.py PROGRAM ENGINE.wasm[.zst]

Prints how many are alike; exits 1 where one is not. Numbers of other digits are shown with how far apart they are."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "apps/python/package_tests"))
from two_hundred import alike_but_for_libm, document_of, flags, furthest, requests  # noqa: E402

TRACES = [["ddp-rank0.json"], ["ddp-rank0.json", "ddp-rank1.json"]]


class Engine:
    """One engine, asked line by line."""

    def __init__(self, path):
        web = ROOT / "web"
        self.process = subprocess.Popen([web / "node_modules/.bin/vite-node", "tests/engineDoor.ts", path], cwd=web,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def by_program(program, arguments, folder=ROOT):
    """(exit code, output, what it says is wrong) of the command line."""
    done = subprocess.run([program, *arguments, "--json"], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def difference(one, other):
    for line, its in zip(one.splitlines(), other.splitlines()):
        if line != its:
            return f"{line.strip()[:120]} | {its.strip()[:120]}"
    return "one is longer"


def main():
    program, path = (str(pathlib.Path(each).resolve()) for each in sys.argv[1:3])
    engine = Engine(path)
    alike, refused, wrong, times, rounded = 0, 0, [], {}, []
    for command, words, fields in requests():
        reply = engine.ask(command=command, request=document_of(command, words, fields))
        code, text, said = by_program(program, [command, *words, *flags(fields)])
        times.setdefault(command, []).append(reply["ms"])
        name = f"{command} {' '.join(words)} {json.dumps(fields)}"
        if code == 2:
            refused += 1
            same = reply["status"] == 400 and text == ""
        else:
            same = (reply["status"], reply["exit"], reply["text"]) == (200, code, text)
        if same:
            alike += 1
        elif code != 2 and (reply["status"], reply["exit"]) == (200, code) and alike_but_for_libm(text, reply["text"]):
            rounded.append(f"{name}: last digits, {furthest(text, reply['text']):.1e} apart")
        elif code == 2:
            wrong.append(f"{name}: not refused: {said[:100]}")
        else:
            wrong.append(f"{name}: {furthest(text, reply['text'])} {difference(text, reply['text'])}")
    examples = ROOT / "examples"
    for names in TRACES:
        reply = engine.ask(command="comms", files={name: str(examples / name) for name in names})
        code, text, _ = by_program(program, ["comms", *names], examples)
        if (reply["status"], reply["exit"], reply["text"]) == (200, code, text):
            alike += 1
        else:
            wrong.append(f"comms {names}: {difference(text, reply['text'])}")
    engine.close()
    for each in rounded + wrong:
        print(each, flush=True)
    for command, took in times.items():
        took.sort()
        print(f"{command}: {len(took)} requests, median {took[len(took) // 2]:.1f} ms, longest {took[-1]:.0f} ms")
    print(f"{alike} of {alike + len(rounded) + len(wrong)} answers alike to the byte, of them {refused} refusals; "
          f"{len(rounded)} to 1e-12")
    return 1 if wrong or len(rounded) > 5 or not refused else 0


if __name__ == "__main__":
    sys.exit(main())
