import { describe, expect, it } from "vitest";

import type { GainedDocument, PoolDocument, ServedDocument } from "./documents";
import { factsOf, memoryParts, passParts, whyNot } from "./numbers";

const served: ServedDocument & GainedDocument = {
  model: "m",
  cluster: "c",
  engine: "vllm",
  gpus: 8,
  weights: "bf16",
  cache: "bf16",
  step_tokens: 8192,
  input_len: 100,
  output_len: 50,
  layout: { tp: 8, pp: 1, ep: 1, dp: 1, cp: 1 },
  fits: true,
  rate: 3,
  capacity_requests_per_s: 12,
  ttft_s: 0.1,
  tpot_s: 0.01,
  latency_s: 0.6,
  throughput_output_tok_s: 1000,
  throughput_total_tok_s: 3000,
  tokens_per_s_per_user: 100,
  tokens_per_s_per_gpu: 125,
  sequences: 4,
  memory_bytes: { weights: 10, reserved: 5, capacity: 45, cache_of_token: 0.01, state_of_sequence: 0 },
  kv_tokens: 3000,
};

const pool: PoolDocument = {
  layout: served.layout,
  copies: 1,
  gpus: 8,
  step_tokens: 512,
  fits: true,
  memory_bytes: served.memory_bytes,
  kv_tokens: 10,
  capacity_requests_per_s: 7,
};

describe("memory", () => {
  it("adds up to what the engine takes, the cache in use by the lengths of its sequences", () => {
    const parts = memoryParts(served);
    expect(parts.reduce((all, part) => all + part.value, 0)).toBe(45);
    expect(parts.find(({ name }) => name === "cache in use")!.value).toBeCloseTo((30 * 4 * 150) / 3000);
  });
  it("has no cache where the weights leave no room", () => {
    const full = { ...served, kv_tokens: 0, memory_bytes: { ...served.memory_bytes, weights: 60 } };
    expect(memoryParts(full).map(({ value }) => value)).toEqual([60, 5, 0, 0]);
  });
});

describe("an answer", () => {
  it("tells how much of the capacity is asked for, and what is not known not at all", () => {
    const facts = factsOf(served);
    expect(facts.find(({ name }) => name === "Capacity")!.about).toBe("25.0 % of it is asked for");
    expect(facts.map(({ name }) => name)).not.toContain("Within the limits");
    expect(facts.map(({ name }) => name)).not.toContain("A million tokens");
  });
  it("tells where four of five measured ones lie, and what binds prefill and decode apart", () => {
    const facts = factsOf({
      ...served,
      interval: { ttft_s: [0.05, 0.2] },
      prefill: pool,
      decode: { ...pool, capacity_requests_per_s: 5 },
      binds: "decode",
      cache_move_s: 0.001,
    });
    const of = (name: string) => facts.find((fact) => fact.name === name);
    expect(of("First token")!.about).toContain("80 % of unseen runs: 50.0 ms to 200 ms");
    expect(of("Prefill answers")).toMatchObject({ value: "7.00 requests/s", about: "" });
    expect(of("Decode answers")).toMatchObject({ value: "5.00 requests/s", about: "what binds" });
    expect(of("The cache moves in")!.value).toBe("1.00 ms");
  });
  it("says why there is none", () => {
    expect(whyNot(served)).toBeNull();
    const { ttft_s: _, ...beyond } = served;
    expect(whyNot(beyond)).toContain("at most 12.0 requests/s");
    expect(whyNot({ ...beyond, fits: false, kv_tokens: 0 })).toContain("the weights alone");
    expect(whyNot({ ...beyond, fits: false })).toContain("the cache of these sequences");
    const apart = { ...beyond, fits: false, prefill: { ...pool, fits: false, kv_tokens: 0 }, decode: pool };
    expect(whyNot(apart)).toContain("It does not fit: of prefill the weights alone are too large.");
  });
  it("has every part of a pass", () => {
    const pass = { products: 1, attention: 2, passes: 3, tp: 4, ep: 0, cp: 0, pp: 0, host: 5 };
    expect(passParts(pass).reduce((all, part) => all + part.value, 0)).toBe(15);
  });
});
