import { beforeEach, expect, test } from "vitest";

import { kGivenNames } from "./plan";
import { kRunNames } from "./run";
import { forget, opensWith, seen, tellFound } from "./sharedRun";

const kWhole = { shares: kRunNames };
const kPlan = { shares: kGivenNames };
const kServe = { shares: ["model", "cluster"] };
const kNone = { shares: [] };

beforeEach(forget);

test("a run goes with the reader, and what a view asks besides stays its own", () => {
  seen("scale", kWhole, { model: "a", gpus: "8", sweep: "weak" });
  seen("step", kWhole, { model: "b", gpus: "64", tp: "8" });
  expect(opensWith("scale", kWhole)).toEqual({ model: "b", gpus: "64", tp: "8", sweep: "weak" });
  seen("limits", kNone, { gpu: "h100-sxm" });
  expect(opensWith("step", kWhole)).toEqual({ model: "b", gpus: "64", tp: "8" });
  expect(opensWith("limits", kNone)).toEqual({ gpu: "h100-sxm" });
});

test("a layout that a plan found goes along, without the data parallelism that follows from it", () => {
  seen("plan", kPlan, { model: "a", gpus: "64", top: "3" });
  expect(opensWith("step", kWhole)).toEqual({ model: "a", gpus: "64" });
  tellFound({ model: "a", gpus: "64" }, "--dp 8 --tp 8");
  expect(opensWith("step", kWhole)).toEqual({ model: "a", gpus: "64", tp: "8" });
  expect(opensWith("serve", kServe)).toEqual({ model: "a" });
  seen("plan", kPlan, { model: "a", gpus: "128" });
  expect(opensWith("step", kWhole)).toEqual({ model: "a", gpus: "128" });
});

test("a layout of the reader's own is kept by views that know of none, until the run is another", () => {
  seen("step", kWhole, { model: "a", gpus: "64", tp: "4" });
  seen("plan", kPlan, { model: "a", gpus: "64" });
  expect(opensWith("step", kWhole)).toEqual({ model: "a", gpus: "64", tp: "4" });
  seen("serve", kServe, { model: "b", tp: "2" });
  expect(opensWith("step", kWhole)).toEqual({ model: "b", gpus: "64" });
  expect(opensWith("serve", kServe)).toEqual({ model: "b", tp: "2" });
});
