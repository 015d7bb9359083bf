import { expect, test } from "vitest";

import { textOf } from "./own";

test("a trace is told as what it is, and where it is read", async () => {
  const trace = new Blob(['{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X"}]}']);
  expect(await textOf(trace)).toEqual({ wrong: expect.stringMatching(/is a trace.*Communication/) });
});

test("what describes a run is text, also where it speaks of traces", async () => {
  const text = '{"model_type": "llama", "note": "traceEvents"}';
  expect(await textOf(new Blob([text]))).toEqual({ text });
});

test("text in UTF-16 is told as that, not as binary", async () => {
  for (const bytes of [
    [0xff, 0xfe, 0x7b, 0],
    [0xfe, 0xff, 0, 0x7b],
  ]) {
    expect(await textOf(new Blob([new Uint8Array(bytes)]))).toEqual({ wrong: expect.stringContaining("UTF-16") });
  }
});
