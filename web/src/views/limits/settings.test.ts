import { describe, expect, it } from "vitest";

import { edited, ownsOf, ownText, parseOwn, settingMembers, type OwnSetting } from "./settings";

const own: OwnSetting = {
  name: "two buildings, 50% more: mine",
  base: "h100-sxm",
  precision: "fp8",
  sparse: true,
  edits: { kernel_latency: 2e-6, "levels.node.size": 72, "peak.fp8": 2e15, "batch.tokens": 8e6, duration_months: 6 },
};

describe("a setting in the address", () => {
  it("comes back as it went", () => {
    expect(parseOwn(ownText(own))).toEqual(own);
    const plain: OwnSetting = { name: "", base: "b200", precision: "", sparse: false, edits: {} };
    expect(parseOwn(ownText(plain))).toEqual(plain);
  });
  it("takes no number from what is none, and no name of a member that could be anything", () => {
    const read = parseOwn("x,base:a100-sxm,l2:many,memory:,:3,__proto__:1,nonsense,memory:Infinity");
    expect(read.edits).toEqual({});
    expect(read.base).toBe("a100-sxm");
  });
  it("keeps its place among the others", () => {
    const found = ownsOf({ own2: "b,base:b200", own1: "a", own9: "far", preset: "batch" });
    expect(found.map((each) => [each.id, each.own.name])).toEqual([
      ["own1", "a"],
      ["own2", "b"],
    ]);
  });
});

describe("a setting in a request", () => {
  it("has the members of a setting's .toml, with units in the text", () => {
    expect(settingMembers(own)).toEqual({
      name: own.name,
      precision: "fp8",
      sparsity: { sparse: true },
      duration_months: 6,
      batch: { tokens: 8e6 },
      machine: {
        base: "h100-sxm",
        kernel_latency: "0.000002 s",
        peak: { fp8: "2000000000000000 FLOP/s" },
        levels: { node: { size: 72 } },
      },
    });
  });
  it("names the machine alone where nothing of it is changed", () => {
    expect(settingMembers({ ...own, precision: "", sparse: false, edits: { "layers.exponent": 0.3 } })).toEqual({
      name: own.name,
      layers: { exponent: 0.3 },
      machine: "h100-sxm",
    });
  });
});

describe("edited", () => {
  it("forgets a number that is back at its base", () => {
    const moved = edited(own, "l2", 1e8, 5e7);
    expect(moved.edits.l2).toBe(1e8);
    expect(edited(moved, "l2", 5e7, 5e7).edits).toEqual(own.edits);
  });
});
