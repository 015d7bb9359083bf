import { expect, test } from "vitest";

import { nearOfAll, nearWords } from "./near";

const from = { runs: 3952, of_framework: 1200, on_accelerator: 800, of_setup: 300, doublings_away: 0 };
const told = (patch: Partial<typeof from> | null) =>
  nearWords(patch && { ...from, ...patch }, "megatron");

test("a run among measured ones says how many had what it has", () => {
  expect(told({})).toBe(
    "The range is told by 3,952 measured runs that the constants had not seen: 1,200 of megatron, 800 on this accelerator, " +
      "300 of megatron on any accelerator of its architecture with as many bits. This run lies among them in accelerators, parameters and sequence.",
  );
});

test("what no measured run had is said so, and how far the run is from them", () => {
  expect(told({ on_accelerator: 0, of_setup: 0 })).toContain("1,200 of megatron, none on this accelerator. ");
  expect(told({ of_setup: 0 })).toContain("but none of megatron on any accelerator of its architecture with as many bits. ");
  expect(told({ doublings_away: 2.5 })).toContain("2.50 doublings of accelerators");
  expect(told(null)).toBeNull();
});

test("of an architecture there may be more runs than on the accelerator itself", () => {
  const words = "900 of megatron on any accelerator of its architecture with as many bits. ";
  expect(told({ of_setup: 900 })).toContain(`800 on this accelerator, ${words}`);
  expect(told({ on_accelerator: 0, of_setup: 900 })).toContain(`none on this accelerator, ${words}`);
});

test("a run at an end of the measured ones lies among them, though the ends are rounded", () => {
  expect(told({ doublings_away: 0.014 })).toContain("This run lies among them");
  expect(told({ doublings_away: 0.02 })).toContain("0.0200 doublings");
});

test("of several runs the farthest from measured ones is told", () => {
  const far = { ...from, doublings_away: 3 };
  expect(nearOfAll([["8", from], ["4,096", far], ["16", null]], "megatron")).toMatch(/^The range is told by 3,952 .* 4,096, the farthest, lies 3.00 doublings/);
  expect(nearOfAll([["8", from], ["16", from]], "megatron")).toContain("Each lies among them");
  expect(nearOfAll([["8", from], ["other", { ...from, on_accelerator: 0 }]], "megatron")).toContain("(8; others differ)");
  expect(nearOfAll([["8", null]], "megatron")).toBeNull();
});
