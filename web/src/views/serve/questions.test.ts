import { describe, expect, it } from "vitest";

import type { OfferDocument } from "./documents";
import {
  acceleratorsOf,
  bestRequest,
  curveRequest,
  kFirstServing,
  kServeNames,
  offerFields,
  offerWords,
  servedRequest,
  servingOf,
  splitWords,
} from "./questions";

describe("the form", () => {
  it("asks for everything but which question it is", () => {
    expect(kServeNames).toContain("engine");
    expect(kServeNames).not.toContain("best");
    expect(kServeNames).not.toContain("curve");
  });
  it("is filled where an address says nothing of serving, and left alone where it does", () => {
    expect(servingOf({})).toEqual(kFirstServing);
    expect(servingOf({ model: "gpt2", cluster: "dgx-a100-80gb" })).toEqual({
      ...kFirstServing,
      model: "gpt2",
      cluster: "dgx-a100-80gb",
    });
    expect(servingOf({ model: "gpt2", "input-len": "3" })).toEqual({ model: "gpt2", "input-len": "3" });
  });
});

describe("questions", () => {
  const fields = { model: "m", cluster: "c", "input-len": "10", "output-len": "5", rate: "2.5", tp: "4", dp: "2" };
  it("are numbers where they count, and leave others' fields out", () => {
    expect(servedRequest({ ...fields, seq: "4096", ttft: "2 s" })).toEqual({
      model: "m",
      cluster: "c",
      "input-len": 10,
      "output-len": 5,
      rate: 2.5,
      tp: 4,
      dp: 2,
      ttft: "2 s",
    });
  });
  it("of the best have the accelerators and neither degrees nor a load", () => {
    expect(bestRequest(fields)).toEqual({
      model: "m",
      cluster: "c",
      gpus: 8,
      "input-len": 10,
      "output-len": 5,
      best: true,
    });
    expect(bestRequest({ ...fields, tp: "x" })).toBeNull();
    expect(acceleratorsOf({ ...fields, gpus: "64" })).toBe(64);
  });
  it("of the best are among formats, and of prefill and decode apart where they are", () => {
    const among = { ...fields, weights: "fp8", formats: "any" };
    expect(bestRequest(among)).toMatchObject({ formats: "any", best: true });
    expect(bestRequest(among)).not.toHaveProperty("weights");
    expect(servedRequest(among)).not.toHaveProperty("formats");
    const apart = { model: "m", cluster: "c", rate: "2", prefill: "tp=2,copies=2", decode: "tp=4" };
    expect(bestRequest(apart)).toEqual({ model: "m", cluster: "c", gpus: 8, best: true, disaggregate: true });
    expect(servedRequest(apart)).toMatchObject({ prefill: "tp=2,copies=2", decode: "tp=4", rate: 2 });
    expect(curveRequest(apart)).toMatchObject({ curve: "rate", prefill: "tp=2,copies=2", decode: "tp=4" });
  });
  it("of more load go along the load that is given", () => {
    expect(curveRequest(fields)).toMatchObject({ curve: "rate", tp: 4 });
    expect(curveRequest(fields)).not.toHaveProperty("rate");
    expect(curveRequest({ ...fields, rate: "", batch: "3" })).toMatchObject({ curve: "batch" });
    expect(curveRequest({ ...fields, rate: "" })).toMatchObject({ curve: "concurrency" });
  });
  it("lead from an offer to its way of serving", () => {
    const chosen = { weights: "fp8", cache: "bf16", step_tokens: 2048, concurrency: 16 };
    const offer = { layout: { tp: 2, pp: 1, ep: 4, dp: 2, cp: 1 }, ...chosen } as OfferDocument;
    expect(offerFields({ ...fields, gpus: "4" }, offer)).toEqual({
      model: "m",
      cluster: "c",
      "input-len": "10",
      "output-len": "5",
      tp: "2",
      ep: "4",
      dp: "2",
      weights: "fp8",
      cache: "bf16",
      "step-tokens": "2048",
      concurrency: "16",
    });
    const apart = {
      ...offer,
      prefill: { tp: 1, pp: 1, ep: 1, dp: 1, cp: 4 },
      prefill_copies: 2,
      prefill_step_tokens: 512,
      decode_copies: 1,
    };
    const shown = offerFields(fields, apart);
    expect(shown.prefill).toBe("tp=1,cp=4,copies=2,step-tokens=512");
    expect(shown.decode).toBe("tp=2,ep=4,dp=2,copies=1,step-tokens=2048");
    expect(shown).not.toHaveProperty("tp");
    expect(acceleratorsOf(shown)).toBe(12);
    expect(offerWords(apart)).toBe("2 x cp 4, then 1 x tp 2 ep 4 dp 2");
    expect(splitWords(offer.layout)).toBe("tp 2 ep 4 dp 2");
    expect(splitWords({ tp: 1, pp: 1, ep: 1, dp: 1, cp: 1 })).toBe("one accelerator");
  });
});
