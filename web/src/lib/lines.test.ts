import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { commandLine, ownFiles, pythonLine, type Asked } from "./lines";

const asked = (command: string, request: Asked["request"]): Asked => ({ command, request });

test("a question is a line for the shell, quoted where it must be", () => {
  expect(commandLine(asked("predict", { model: "gpt2", tp: 8, "no-sp": true, unfused: false }))).toBe(
    "headway predict --model gpt2 --tp 8 --no-sp",
  );
  expect(commandLine(asked("predict", { model: "a b'; rm -rf" }))).toBe("headway predict --model 'a b'\\''; rm -rf'");
  expect(commandLine(asked("plan", { gpus: 64, "max-pp": 4, fix: { tp: 8, recompute: "full" } }))).toBe(
    "headway plan --gpus 64 --max-pp 4 --fix tp=8 recompute=full",
  );
  expect(commandLine(asked("scale", { sweep: "run", tokens: "2T" }))).toBe("headway scale run --tokens 2T");
});

test("what is described in place is a file on the command line, in the form that is read there", () => {
  const own = asked("predict", {
    model: { architectures: ["LlamaForCausalLM"], _name_or_path: "org/my model" },
    cluster: { name: "mine", base: "dgx-h100", levels: { node: { size: 16 } } },
  });
  expect(commandLine(own)).toBe("headway predict --model org-my-model.json --cluster mine.toml");
  const [model, cluster] = ownFiles(own);
  expect(JSON.parse(model!.text)).toEqual(own.request.model);
  expect(cluster).toEqual({ name: "mine.toml", text: 'name = "mine"\nbase = "dgx-h100"\n\n[levels]\n\n[levels.node]\nsize = 16\n' });
  expect(ownFiles(asked("plan", { model: "gpt2", fix: { tp: 8 } }))).toEqual([]);
});

// The package with an engine that tells what it was asked instead of answering.
const kTells = `
import json, sys, types
engine = types.ModuleType("headway._engine")
told = []
class Done(Exception): pass
def answer(command, request, *_):
    told.append([command, json.loads(request)])
    raise Done
engine.answer, engine.predict = answer, lambda fields: None
engine.__getattr__ = lambda name: (lambda *_: "")
sys.modules["headway._engine"] = engine
import headway as hw
for line in json.load(sys.stdin):
    try: eval(line, {"hw": hw})
    except Done: pass
print(json.dumps(told))
`;

test("the line of Python asks the package what the page asks the server", () => {
  const questions = [
    asked("predict", { model: "llama-3.1-70b", gpus: 64, "global-batch": "2,048", "no-sp": true, dropout: 0.1, unfused: false }),
    asked("plan", { model: { name: 'mi"ne', layers: 2, tied: false, none: null, sizes: [1, 2] }, "max-pp": 4, fix: { tp: 8 } }),
    asked("scale", { sweep: "run", tokens: "15.6T", model: "llama-3.1-405b" }),
    asked("infer", { model: "llama-2-7b", "input-len": 512, "output-len": 128, rate: 2.5, best: true }),
  ];
  const done = spawnSync("python3", ["-c", kTells], {
    encoding: "utf8",
    input: JSON.stringify(questions.map(pythonLine)),
    env: { ...process.env, PYTHONPATH: fileURLToPath(new URL("../../../apps/python/package", import.meta.url)), PYTHONDONTWRITEBYTECODE: "1" },
  });
  expect(done.stderr).toBe("");
  expect(JSON.parse(done.stdout)).toEqual(questions.map(({ command, request }) => [command, request]));
});

test("settings of limits are files without a flag", () => {
  const own = asked("limits", { settings: [{ name: "my machine", base: "h100-sxm", levels: { node: { latency: 1e-6 } } }], smooth: true });
  expect(commandLine(own)).toBe("headway limits my-machine.toml --smooth");
  expect(ownFiles(own)[0]!.text).toContain('base = "h100-sxm"');
});
