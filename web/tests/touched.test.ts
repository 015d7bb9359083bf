import { expect, test } from "vitest";

import { touched, withFirst } from "./touched";

test("a field that is given, changed or cleared is touched", () => {
  expect(touched({ tp: "8", pp: "2", gpus: "64" }, { tp: "4", gpus: "64", seq: "4096" })).toEqual(["pp", "seq", "tp"]);
});

test("what a view opens with is not touched before it is written out, nor by that", () => {
  const first = { model: "gpt2", gpus: "8" };
  expect(withFirst({}, first)).toEqual(first);
  expect(touched(withFirst({}, first), withFirst({ ...first, gpus: "16" }, first))).toEqual(["gpus"]);
  expect(touched(withFirst({}, first), withFirst({ model: "gpt2" }, first))).toEqual(["gpus"]);
});
