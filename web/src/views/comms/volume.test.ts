import { describe, expect, it } from "vitest";

import { wholeOf } from "../../charts/stack";
import type { ExpectedCall, RankClass } from "./documents";
import { byGroup, bySize, groupCategories, kOpCategories, meanCalls } from "./volume";

const call = (patch: Partial<ExpectedCall>): ExpectedCall => ({
  group: "tp",
  op: "all_gather",
  bytes: 1024,
  count: 2,
  dtype: "bf16",
  phase: "forward",
  ranks: 8,
  level: "node",
  seconds_each: 0.5,
  exposed_s: 0.25,
  hidden_by: "nothing",
  small: false,
  wire_bytes: 2048,
  ...patch,
});
const stage = (ranks: number, ...calls: ExpectedCall[]): RankClass => ({
  first_stage: 0,
  stages: 1,
  ranks,
  sets_pace: true,
  calls,
});

// A quarter of the ranks makes one call, the others two.
const calls = meanCalls([
  stage(1, call({ group: "dp", op: "all_reduce", bytes: 5000, wire_bytes: 8000 })),
  stage(3, call({}), call({ op: "reduce_scatter", bytes: 1 << 20, wire_bytes: 4000 })),
]);

describe("volume", () => {
  it("is of the mean rank: classes count by their ranks", () => {
    const rows = byGroup(calls, "bytes");
    expect(rows).toEqual([
      { label: "tp", parts: { all_gather: 0.75 * 2048, reduce_scatter: 0.75 * 4000 } },
      { label: "dp", parts: { all_reduce: 2000 } },
    ]);
  });
  it("counts seconds of all calls together, and what is exposed once", () => {
    expect(byGroup(calls, "time")[0]!.parts.all_gather).toBeCloseTo(0.75 * 2 * 0.5, 12);
    expect(byGroup(calls, "exposed")[0]!.parts.all_gather).toBeCloseTo(0.75 * 0.25, 12);
    expect(byGroup(calls, "calls")[0]!.parts.all_gather).toBeCloseTo(1.5, 12);
  });
});

describe("sizes", () => {
  it("are bins of powers of two without gaps between them", () => {
    const rows = bySize(calls, "calls", String);
    expect(rows.map(({ label }) => label)).toEqual(Array.from({ length: 11 }, (_, i) => String(1024 * 2 ** i)));
    expect(rows[0]!.parts).toEqual({ tp: 1.5 });
    expect(rows[2]!.parts).toEqual({ dp: 0.5 }); // 5000 lies between 4096 and 8192
    expect(rows[3]!.parts).toEqual({});
  });
  it("hold all that the groups hold", () => {
    const categories = groupCategories(calls);
    const sum = bySize(calls, "bytes", String).reduce((all, row) => all + wholeOf(row, categories), 0);
    const groups = byGroup(calls, "bytes").reduce((all, row) => all + wholeOf(row, kOpCategories), 0);
    expect(sum).toBeCloseTo(groups, 9);
  });
  it("are none of no calls", () => {
    expect(bySize([], "bytes", String)).toEqual([]);
  });
});

describe("groups", () => {
  it("stand in the order of a step's parts, unknown ones last", () => {
    const all = meanCalls([stage(1, ...["world", "dp", "pp", "tp", "embedding"].map((group) => call({ group })))]);
    expect(groupCategories(all).map(({ key }) => key)).toEqual(["tp", "pp", "dp", "embedding", "world"]);
  });
});
