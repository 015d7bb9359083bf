import { expect, test } from "vitest";

import type { RunDocument } from "../scale/documents";
import { cheaper, moneyInterval, onOther, othersOf } from "./cost";

const run = (cluster: string, price: number | null, low: number, high: number) =>
  ({ cluster, price_usd: price, step_time_s: 10, interval_step_time_s: [low, high], time_s: { total: 1000 } }) as unknown as RunDocument;

test("money is as uncertain as the step", () => {
  expect(moneyInterval(run("a", 200, 9, 12))).toEqual([180, 240]);
  expect(moneyInterval(run("a", null, 9, 12))).toBeNull();
});

test("the cheaper of two is named, and whether that is sure", () => {
  expect(cheaper(run("a", 200, 9, 11), run("b", 100, 9, 11))).toBe("b is cheaper than a by 50 %.");
  expect(cheaper(run("a", 200, 5, 20), run("b", 190, 9, 11))).toMatch(/^b is cheaper than a by 5 %; their ranges meet/);
  expect(cheaper(run("a", null, 9, 11), run("b", 100, 9, 11))).toBeNull();
});

test("another machine has a layout of its own", () => {
  expect(onOther({ model: "m", cluster: "a", tp: "8", gpus: "64" }, "b")).toEqual({ model: "m", cluster: "b", gpus: "64" });
  expect(othersOf({ beside: "a,b,,c,d" })).toEqual(["a", "b", "c"]);
});
