import { describe, expect, it } from "vitest";

import type { TrustRow } from "./documents";
import { facetOf, matching, pairsOf, quantile, sourceLink, summaryOf, usualFactor, valuesOf } from "./rows";

const kRow: TrustRow = {
  id: "a-1",
  source_key: "a",
  outcome: "ok",
  n_accel: 64,
  measured_step_time_s: 10,
  predicted_step_time_s: 11,
  error: 0.1,
  measured_memory_gb: null,
  predicted_memory_gb: 40,
  predicted_fits: 1,
  interval_low_s: 9,
  interval_high_s: 12,
  assumed: null,
  skipped_reason: null,
  accelerator: "H100",
  framework: "megatron",
  model: "m",
  parallelism: "tp",
  source: null,
};
const row = (patch: Partial<TrustRow>): TrustRow => ({ ...kRow, ...patch });

describe("pairs", () => {
  it("are of runs that ran, with both sides known", () => {
    const rows = [
      row({}),
      row({ outcome: "oom" }),
      row({ predicted_step_time_s: null }),
      row({ measured_step_time_s: null }),
    ];
    expect(pairsOf(rows, "time")).toHaveLength(1);
    expect(pairsOf(rows, "memory")).toHaveLength(0);
    expect(pairsOf([row({ measured_memory_gb: 50 })], "memory")[0]!.error).toBeCloseTo(-0.2, 12);
  });
});

describe("a summary", () => {
  const timed = (predicted: number, patch: Partial<TrustRow> = {}) =>
    row({ predicted_step_time_s: predicted, ...patch });
  it("takes sizes of errors for median and p90, signs for the bias", () => {
    const found = summaryOf(pairsOf([timed(11), timed(8), timed(13)], "time")); // +0.1 -0.2 +0.3
    expect(found.rows).toBe(3);
    expect(found.median).toBeCloseTo(0.2, 12);
    expect(found.p90).toBeCloseTo(0.28, 12); // 0.2 + 0.8 x 0.1
    expect(found.bias).toBeCloseTo(0.1, 12);
  });
  it("counts only rows with an interval as inside or not, its ends included", () => {
    const rows = [
      timed(11, { interval_low_s: 10 }),
      timed(11, { interval_low_s: 10.5 }),
      timed(11, { interval_low_s: null }),
    ];
    expect(summaryOf(pairsOf(rows, "time")).inside).toBe(0.5);
  });
  it("of nothing is not a number, and of one is that one", () => {
    expect(summaryOf([]).median).toBeNaN();
    expect(quantile([7], 0.9)).toBe(7);
  });
  it("finds the factor that four of five stay within, the same up and down", () => {
    const rows = [timed(20), timed(5), timed(20), timed(5), timed(20)];
    expect(usualFactor(pairsOf(rows, "time"))).toBeCloseTo(2, 12);
  });
});

describe("facets", () => {
  it("group accelerators by powers of two, as the command line does", () => {
    const scale = (n: number | null) => facetOf(row({ n_accel: n }), "scale");
    expect([1, 8, 9, 64, 65, 1024, 1025, null].map(scale)).toEqual([
      "1-8", "1-8", "9-16", "33-64", "65-128", "513-1024", "1025-", "not stated",
    ]); // prettier-ignore
  });
  it("are counted, the most frequent first, and scales in their order", () => {
    const rows = [row({ source_key: "b", n_accel: 2048 }), row({ source_key: "a" }), row({ source_key: "b" })];
    expect(valuesOf(rows, "source")).toEqual([
      ["b", 2],
      ["a", 1],
    ]);
    expect(valuesOf(rows, "scale").map(([name]) => name)).toEqual(["33-64", "1025-"]);
  });
  it("let through what matches all that is chosen", () => {
    const rows = [row({}), row({ accelerator: "A100" }), row({ accelerator: null, framework: "fsdp" })];
    expect(matching(rows, {})).toHaveLength(3);
    expect(matching(rows, { accelerator: "H100", framework: "megatron" })).toHaveLength(1);
    expect(matching(rows, { accelerator: "not stated" })).toEqual([rows[2]]);
  });
});

describe("sourceLink", () => {
  it("leads to the line of a file in a repository", () => {
    expect(sourceLink("github:a/b-c@0123456789abcdef:docs/x.md:L70")).toBe(
      "https://github.com/a/b-c/blob/0123456789abcdef/docs/x.md#L70",
    );
  });
  it("leads to a page, and nowhere from a citation or anything that runs", () => {
    expect(sourceLink("https://example.org/x")).toBe("https://example.org/x");
    for (const source of ["table 3 of a paper", "javascript:alert(1)", "", null]) expect(sourceLink(source)).toBeNull();
  });
});
