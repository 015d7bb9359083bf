import { expect, test } from "vitest";

import type { PredictDocument } from "./documents";
import { nearWords } from "./near";

const from = { runs: 3952, of_framework: 1200, on_accelerator: 800, of_setup: 300, doublings_away: 0 };
const told = (patch: Partial<typeof from> | null) =>
  nearWords({ interval_from: patch && { ...from, ...patch }, job: { framework: "megatron" } as PredictDocument["job"] });

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
