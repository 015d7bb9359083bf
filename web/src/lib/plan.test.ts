import { describe, expect, it } from "vitest";

import type { PlanBest, PlanPoint } from "./documents";
import { kGivenNames, kLayoutNames, layoutRequest, roomyWords } from "./plan";
import { kRunNames } from "./run";

const point = (step_time_s: number, energy_j: number) => ({ step_time_s, energy_j }) as PlanPoint;
const plan = (objective: string, first: PlanPoint, roomy: PlanPoint | null) => ({
  objective,
  best: [first as PlanBest],
  with_endless_memory: roomy,
});

describe("what more memory would bring", () => {
  it("is a shorter step, and by how much", () => {
    const words = roomyWords(plan("time", point(2, 1e6), point(1.5, 2e6)));
    expect(words).toBe("the best step would be 1.50 s, 25.0 % shorter");
  });
  it("is told of what is made as small as can be", () => {
    const words = roomyWords(plan("energy", point(2, 1e6), point(3, 9e5)));
    expect(words).toBe("the best energy would be 900 kJ, 10.0 % less");
  });
  it("is nothing where memory does not bind", () => {
    expect(roomyWords(plan("time", point(2, 1e6), null))).toBeNull();
    expect(roomyWords(plan("time", point(2, 1e6), point(2, 1e6)))).toBeNull();
    expect(roomyWords({ ...plan("time", point(2, 1e6), point(1, 1e6)), best: [] })).toBeNull();
  });
});

describe("a search", () => {
  it("takes every field of a run that it does not choose itself", () => {
    expect([...kGivenNames, ...kLayoutNames].sort()).toEqual([...kRunNames].sort());
    const fields = { model: "llama-2-7b", "small-activation-inputs": "true", tp: "8" };
    expect(layoutRequest(fields)).toEqual({ model: "llama-2-7b", "small-activation-inputs": true, top: 1 });
  });
});
