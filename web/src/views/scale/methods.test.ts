import { expect, test } from "vitest";

import type { PredictDocument } from "../../lib/documents";
import { byTime, bytesBetween, dataWords, headline, methodRequest, type MethodNumbers, type MethodRow } from "./methods";

const diloco: MethodNumbers = {
  name: "diloco",
  title: "DiLoCo",
  what: "",
  usual: { every: 500, replicas: null, bandwidth: null, latency: null },
  sample_penalty: 1,
  penalty: "published: as good as synchronous training (C4)",
  source: "",
};
const fp8: MethodNumbers = { ...diloco, name: "fp8-exchange", title: "gradients in 8 bit", usual: {}, penalty: "no published number at this scale: an upper bound" };
const run = { model: "llama-2-7b", gpus: "128", method: "gossip" };
const apart = { ...run, "between-replicas": "2", "between-bandwidth": "10Gb/s" };

test("a method is told of the link between replicas where it may know one", () => {
  expect(methodRequest(run, diloco)).toEqual({ model: "llama-2-7b", gpus: 128, method: "diloco" });
  expect(methodRequest(apart, diloco).method).toBe("diloco:replicas=2,bandwidth=10Gb/s");
  expect(methodRequest(apart, fp8).method).toBe("fp8-exchange");
});

test("what all are compared with meets in every step, over the link where there is one", () => {
  expect(methodRequest(run, null)).toEqual({ model: "llama-2-7b", gpus: 128 });
  expect(methodRequest(apart, null).method).toBe("local-sgd:every=1,replicas=2,bandwidth=10Gb/s");
});

test("bytes between replicas are those of data-parallel groups alone, over a link of their own of what meets there", () => {
  const call = { op: "", dtype: "", phase: "", ranks: 2, level: "", seconds_each: 0, exposed_s: 0 };
  const calls = [
    { ...call, group: "dp", bytes: 10, count: 2 },
    { ...call, group: "dp_meeting", bytes: 100, count: 0.01 },
    { ...call, group: "tp", bytes: 1e9, count: 5 },
  ];
  expect(bytesBetween(calls as unknown as PredictDocument["calls"], false)).toBeCloseTo(21);
  expect(bytesBetween(calls as unknown as PredictDocument["calls"], true)).toBeCloseTo(1);
});

test("what nobody published is said so", () => {
  expect(dataWords(diloco)).toBe("only at smaller scale");
  expect(dataWords(fp8)).toBe("no published number");
  expect(dataWords({ sample_penalty: 3, penalty: "published: 3 to 10 times the data on Atari" })).toBe("at least x 3");
});

const row = (method: MethodNumbers | null, time: number | null): MethodRow => ({
  method,
  title: method?.title ?? "meeting in every step",
  step: time === null ? null : ({ step_time_s: time, fits: true } as PredictDocument),
  refused: time === null ? "no" : "",
});

test("rows stand by their time, those that are refused last; the headline names the fastest of the whole model", () => {
  const ensemble = { ...diloco, name: "ensemble", title: "ensemble" };
  const rows = [row(fp8, null), row(null, 3), row(diloco, 2), row(ensemble, 1)];
  expect(byTime(rows, false).map(({ step }) => step?.step_time_s)).toEqual([1, 2, 3, undefined]);
  const text = (value: number) => `${value} s`;
  expect(headline(rows, false, text)).toBe("Meeting in every step takes 3 s a step, DiLoCo 2 s, if it needs no more data.");
  expect(headline([row(null, 2), row(diloco, 2)], false, text)).toContain("no method that trains the whole model takes less");
});

test("where replicas are apart, what knows no link between them is set behind the others", () => {
  const rows = [row(fp8, 1), row(null, 3), row(diloco, 2)];
  expect(byTime(rows, true).map(({ title }) => title)).toEqual(["DiLoCo", "meeting in every step", "gradients in 8 bit"]);
  expect(headline(rows, true, (value) => `${value} s`)).toContain("DiLoCo 2 s");
});
