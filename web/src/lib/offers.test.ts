import { expect, test } from "vitest";

import { countOf, offersOf } from "./offers";

const divides = { where: "global-batch", message: "130 sequences are not a multiple of ... = 64; legal: a multiple of 64" };

test("of a multiple the nearest below and above are offered", () => {
  expect(offersOf(divides, "130")).toEqual([128, 192]);
  expect(offersOf(divides, "1,030")).toEqual([1024, 1088]);
  expect(offersOf(divides, "8")).toEqual([64]);
  expect(offersOf(divides, "many")).toEqual([]);
});

test("numbers that the engine names are offered", () => {
  expect(offersOf({ where: "gpus", message: "no split is legal; the nearest with one: 248 and 252" }, "250")).toEqual([248, 252]);
  expect(offersOf({ where: "gpus", message: "is missing" }, "")).toEqual([]);
});

test("counts are read as the engine reads them, and as nothing where it would refuse", () => {
  expect(["2048", "2,048", "8k", "2K", "1m"].map(countOf)).toEqual([2048, 2048, 8192, 2048, 1048576]);
  expect(["20,48", "1e3", "2 048", "8.5", "0x10", "", "2T"].map(countOf)).toEqual(Array(7).fill(null));
});
