import { expect, test } from "vitest";

import { heldByBatch, nearBatches } from "./batch";
import type { PlanDocument } from "./documents";

test("the nearest batches that divide over more accelerators are found below and above", () => {
  expect(nearBatches(127, 64)).toEqual([
    { batch: 112, ranks: 16 },
    { batch: 128, ranks: 64 },
  ]);
  expect(nearBatches(100, 64)).toEqual([
    { batch: 96, ranks: 32 },
    { batch: 112, ranks: 16 },
  ]);
  expect(nearBatches(7, 64)).toEqual([
    { batch: 6, ranks: 2 },
    { batch: 8, ranks: 8 },
  ]);
});

test("a batch that divides has no better one", () => {
  expect(nearBatches(128, 64)).toEqual([]);
  expect(nearBatches(1, 1)).toEqual([]);
});

test("only a layout that has all the ranks its batch allows is held by it", () => {
  const plan = (dp: number, global_batch: number) =>
    ({ gpus: 64, job: { global_batch }, best: [{ layout: { dp } }] }) as unknown as PlanDocument;
  expect(heldByBatch(plan(1, 127)).map(({ batch }) => batch)).toEqual([112, 128]);
  expect(heldByBatch(plan(2, 100))).toEqual([]);
  expect(heldByBatch(plan(64, 128))).toEqual([]);
});
