import { describe, expect, it } from "vitest";

import { furthestAlike } from "./flat";

describe("the furthest place that is alike", () => {
  it("is found for every stretch on both sides, with few questions", async () => {
    for (let edge = 0; edge <= 40; ++edge) {
      for (const side of [-1, 1]) {
        let asked = 0;
        const alike = (position: number) => {
          ++asked;
          return Promise.resolve(position * side <= edge);
        };
        expect(await furthestAlike(0, side * 40, alike)).toBe(side * edge || 0);
        expect(asked).toBeLessThanOrEqual(8);
      }
    }
  });
  it("is where one stands at the end of the slider", async () => {
    expect(await furthestAlike(7, 7, () => Promise.reject(new Error("nothing to ask")))).toBe(7);
  });
});
