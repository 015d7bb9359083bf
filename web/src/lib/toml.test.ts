import { expect, test } from "vitest";

import { tomlText } from "./toml";

test("members come before tables, tables by their names, tables in lists one by one", () => {
  const text = tomlText({
    levels: { node: { size: 8, latency: "1.9 us" }, "a.b": { nics: 2 } },
    base: "dgx-h100",
    formats: ["bf16", "fp8"],
    factor: 1e-7,
    one: true,
    nothing: null,
    runs: [{ gpus: 8 }, { gpus: 16, at: { node: 2 } }],
  });
  expect(text).toBe(
    [
      'base = "dgx-h100"',
      'formats = ["bf16", "fp8"]',
      "factor = 1e-7",
      "one = true",
      "",
      "[levels]",
      "",
      "[levels.node]",
      "size = 8",
      'latency = "1.9 us"',
      "",
      '[levels."a.b"]',
      "nics = 2",
      "",
      "[[runs]]",
      "gpus = 8",
      "",
      "[[runs]]",
      "gpus = 16",
      "",
      "[runs.at]",
      "node = 2",
      "",
    ].join("\n"),
  );
});

test("a text cannot end itself, nor a line", () => {
  expect(tomlText({ name: 'a"\n[x]\\' })).toBe('name = "a\\"\\n[x]\\\\"\n');
});

test("a whole number beyond 64 bit is one with an exponent", () => {
  expect(tomlText({ flop: 2 ** 70, tokens: 15e12 })).toBe("flop = 1.1805916207174113e+21\ntokens = 15000000000000\n");
});
