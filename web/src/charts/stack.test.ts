import { describe, expect, it } from "vitest";

import type { Category } from "./palette";
import { asShares, piecesOf, presentCategories, wholeOf, type Row } from "./stack";

const categories: Category[] = ["compute", "tp", "dp"].map((key) => ({ key, name: key, colour: `var(--part-${key})` }));
const row: Row = { label: "64", parts: { compute: 6, tp: 0, dp: 2 } };

describe("a stack", () => {
  it("lays pieces end to end, and they add up to the whole", () => {
    const pieces = piecesOf(row, categories);
    expect(pieces.map((p) => [p.key, p.from, p.to])).toEqual([
      ["compute", 0, 6],
      ["dp", 6, 8],
    ]);
    expect(pieces[pieces.length - 1]!.to).toBe(wholeOf(row, categories));
  });
  it("keeps the order of the categories, not of the parts", () => {
    const turned: Row = { label: "", parts: { dp: 1, tp: 1, compute: 1 } };
    expect(piecesOf(turned, categories).map((p) => p.key)).toEqual(["compute", "tp", "dp"]);
  });
  it("names no category that nothing belongs to", () => {
    expect(presentCategories([row], categories).map((c) => c.key)).toEqual(["compute", "dp"]);
  });
  it("turns into shares of each row's own whole", () => {
    const [share] = asShares([row], categories);
    expect(share!.parts).toEqual({ compute: 0.75, tp: 0, dp: 0.25 });
    expect(asShares([{ label: "", parts: {} }], categories)[0]!.parts).toEqual({ compute: 0, tp: 0, dp: 0 });
  });
  it("counts nothing below zero", () => {
    const odd: Row = { label: "", parts: { compute: 3, dp: -1 } };
    expect(wholeOf(odd, categories)).toBe(3);
    expect(piecesOf(odd, categories)).toHaveLength(1);
  });
});
