import { expect, test } from "vitest";

import { layoutWords, planProblem, planRequest, stepFields } from "./plan";
import { fieldsOfFlags, kRunNames, nameOf, runRequest } from "./run";

test("counts are numbers, switches are true, text stays text", () => {
  expect(runRequest({ model: "gpt2", tp: "8", "no-sp": "true", offload: "optimizer", zero: "1", dropout: "0.1" })).toEqual({
    model: "gpt2",
    tp: 8,
    "no-sp": true,
    offload: "optimizer",
    zero: 1,
    dropout: 0.1,
  });
});

test("what is no number is sent as it stands, for the server to judge", () => {
  expect(runRequest({ tp: "eight", pp: "1e999" })).toEqual({ tp: "eight", pp: "1e999" });
});

test("what only JavaScript takes for a number goes as it stands", () => {
  expect(runRequest({ gpus: "1e3", seq: "0x10", tp: "8k", "global-batch": "2,048" })).toEqual({
    gpus: "1e3",
    seq: "0x10",
    tp: "8k",
    "global-batch": "2,048",
  });
});

test("a description of one's own goes by the first name that it has", () => {
  expect(nameOf("dgx-h100")).toBe("dgx-h100");
  expect(nameOf('{"base":"dgx-h100","name":"mine"}')).toBe("own: mine");
  expect(nameOf('{"name":"","model_type":"mistral"}')).toBe("own: mistral");
  expect(nameOf('{"layers":2}')).toBe("own: described");
  expect(nameOf('{"layers":')).toBe('{"layers":');
});

test("a description of one's own is sent as the object that it is", () => {
  expect(runRequest({ model: '{"base":"gpt2"}', cluster: "{broken" })).toEqual({ model: { base: "gpt2" }, cluster: "{broken" });
});

test("fields of other views are left out", () => {
  expect(runRequest({ model: "gpt2", preset: "x", "fix-tp": "8" })).toEqual({ model: "gpt2" });
});

test("no field stands twice", () => {
  expect(new Set(kRunNames).size).toBe(kRunNames.length);
});

test("flags of a layout become fields", () => {
  expect(fieldsOfFlags("--dp 32 --tp 8 --no-sp --overlap-tensor on --no-reshard")).toEqual({
    dp: "32",
    tp: "8",
    "no-sp": "true",
    "overlap-tensor": "on",
    "no-reshard": "true",
  });
  expect(fieldsOfFlags("")).toEqual({});
});

test("a plan keeps fields where it is told, and its layouts open in Step", () => {
  const fields = { model: "gpt2", gpus: "64", headroom: "10%", "fix-tp": "8", "max-pp": "4", "fix-recompute": "full" };
  const request = planRequest(fields);
  expect(request).toEqual({
    model: "gpt2",
    gpus: 64,
    headroom: "10%",
    "max-pp": 4,
    fix: { tp: 8, recompute: "full" },
  });
  expect(stepFields(fields, "--dp 8 --tp 8")).toEqual({ model: "gpt2", gpus: "64", dp: "8", tp: "8" });
  expect(layoutWords("--dp 8 --tp 8 --overlap-gradients on --zero 2 --overlap-parameters off")).toBe(
    "dp 8 tp 8 zero 2 overlap-parameters off",
  );
});

test("what is wrong with a field that a plan keeps stands beside it", () => {
  expect(planProblem({ where: "fix pp=x", message: "no" })).toEqual({ where: "fix-pp", message: "no" });
  expect(planProblem({ where: "gpus", message: "no" })).toEqual({ where: "gpus", message: "no" });
});
