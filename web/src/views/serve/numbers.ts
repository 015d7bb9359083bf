// One way of serving in a few numbers, its memory and the parts of its passes.
import type { Fact } from "../../app/Facts";
import type { BarPart } from "../../charts/SumBar";
import { compared, type Compared, type ComparedRow } from "../../lib/compared";
import { bytes, count, dollars, number, percent, seconds } from "../../lib/format";
import {
  kPassParts,
  type GainedDocument,
  type IntervalFromDocument,
  type PassDocument,
  type PassPart,
  type PoolDocument,
  type QuantilesDocument,
  type ServedDocument,
} from "./documents";

function quantiles(of: QuantilesDocument | undefined): string {
  return of ? `p50 ${seconds(of.p50)}, p90 ${seconds(of.p90)}, p99 ${seconds(of.p99)}` : "";
}

/** "80 % of unseen runs: 1.2 s to 3.4 s". */
function held(of: readonly [number, number] | undefined, text: (value: number) => string): string {
  return of ? `80 % of unseen runs: ${text(of[0])} to ${text(of[1])}` : "";
}

/** By which measured servings the ranges are told; null where there are none. */
export function nearServed(from: IntervalFromDocument | undefined): string | null {
  if (!from) return null;
  const of = (what: string, by: { measurements: number; sources: number } | undefined) =>
    by ? [`${what} ${count(by.measurements)} of ${count(by.sources)} ${by.sources === 1 ? "source" : "sources"}`] : [];
  const told = [...of("the first token by", from.ttft_s), ...of("each after it by", from.tpot_s), ...of("output by", from.throughput_output_tok_s)];
  if (told.length === 0) return null;
  const { engine_measured: engine, accelerator_measured: accelerator } = from;
  const near =
    engine && accelerator
      ? "Servings with this engine and servings on this accelerator were among those measured."
      : engine
        ? "None was measured on this accelerator."
        : accelerator
          ? "None was measured with this engine."
          : "None was measured with this engine, nor on this accelerator.";
  return `Ranges are told by measured servings that the constants had not seen: ${told.join(", ")}. ${near}`;
}

export function factsOf(served: ServedDocument & GainedDocument): Fact[] {
  const facts: Fact[] = [
    {
      name: "First token",
      value: seconds(served.ttft_s),
      about: ["mean", held(served.interval?.ttft_s, seconds), quantiles(served.quantiles?.ttft_s)],
    },
    {
      name: "Each token after it",
      value: seconds(served.tpot_s),
      about: [
        served.tokens_per_s_per_user ? `${number(served.tokens_per_s_per_user)} tokens/s of a user` : "",
        held(served.interval?.tpot_s, seconds),
        quantiles(served.quantiles?.tpot_s),
      ],
    },
    {
      name: "Whole answer",
      value: seconds(served.latency_s),
      about: [held(served.interval?.latency_s, seconds), quantiles(served.quantiles?.latency_s)],
    },
    {
      name: "Output tokens/s",
      value: count(served.throughput_output_tok_s),
      about: [
        `${number(served.tokens_per_s_per_gpu)} an accelerator`,
        `${count(served.throughput_total_tok_s)} with prompts`,
        held(served.interval?.throughput_output_tok_s, count),
      ],
    },
    {
      name: "At a time",
      value: `${count(served.sequences)} sequences`,
      about: served.layout.dp > 1 ? "of each copy, at most" : "at most",
    },
  ];
  if (served.prefill && served.decode) {
    const answers = (pool: PoolDocument) =>
      pool.capacity_requests_per_s === undefined ? "any" : `${number(pool.capacity_requests_per_s)} requests/s`;
    facts.push(
      { name: "Prefill answers", value: answers(served.prefill), about: served.binds === "prefill" ? "what binds" : "" },
      { name: "Decode answers", value: answers(served.decode), about: served.binds === "decode" ? "what binds" : "" },
    );
    if (served.cache_move_s !== undefined) {
      facts.push({ name: "The cache moves in", value: seconds(served.cache_move_s), about: "of a prompt" });
    }
  }
  if (served.capacity_requests_per_s !== undefined && served.rate !== undefined) {
    facts.push({
      name: "Capacity",
      value: `${number(served.capacity_requests_per_s)} requests/s`,
      about: `${percent(served.rate / served.capacity_requests_per_s)} of it is asked for`,
    });
  }
  if (served.share_within_limits !== undefined) {
    facts.push({ name: "Within the limits", value: percent(served.share_within_limits), about: "of all requests" });
  }
  if (served.energy_j_per_token !== undefined) {
    facts.push({ name: "Energy of a token", value: `${number(served.energy_j_per_token)} J`, about: "all accelerators" });
  }
  if (served.price_per_million_tokens !== undefined) {
    facts.push({ name: "A million tokens", value: dollars(served.price_per_million_tokens), about: "of output" });
  }
  return facts;
}

const kCompared: readonly ComparedRow<ServedDocument>[] = [
  ["first token", (of) => of.ttft_s, seconds],
  ["first token, p99", (of) => of.quantiles?.ttft_s.p99, seconds],
  ["each token after it", (of) => of.tpot_s, seconds],
  ["whole answer", (of) => of.latency_s, seconds],
  ["output tokens/s", (of) => of.throughput_output_tok_s, count],
  ["tokens/s of an accelerator", (of) => of.tokens_per_s_per_gpu, number],
  ["requests/s at most", (of) => of.capacity_requests_per_s, number],
  ["within the limits", (of) => of.share_within_limits, percent],
  ["weights on a rank", (of) => of.memory_bytes.weights, bytes],
  ["tokens of cache that fit", (of) => of.kv_tokens, count],
  ["energy of a token", (of) => of.energy_j_per_token, (value) => `${number(value)} J`],
  ["a million tokens", (of) => of.price_per_million_tokens, dollars],
];

/** Two ways of serving in numbers; a dash where one does not fit or is not stable. */
export function beside(a: ServedDocument, b: ServedDocument): Compared[] {
  return compared(kCompared, a, b).filter((row) => row.a !== null || row.b !== null);
}

// What of a rank is too large; of prefill and decode apart, of which.
function tooLarge({ prefill, decode, kv_tokens }: ServedDocument): string {
  const ofRank = (tokens: number) => (tokens <= 0 ? "the weights alone are too large" : "the cache of these sequences is too large");
  if (!prefill || !decode) return ofRank(kv_tokens);
  const pools = Object.entries({ prefill, decode }).filter(([, pool]) => !pool.fits);
  return pools.map(([name, pool]) => `of ${name} ${ofRank(pool.kv_tokens)}`).join(", ");
}

/** Why there are no times, in words; null where there are. */
export function whyNot(served: ServedDocument): string | null {
  if (!served.fits) {
    return `It does not fit: ${tooLarge(served)}. More tensor or pipeline parallelism, smaller formats, or fewer sequences.`;
  }
  if (served.ttft_s === undefined) {
    const most = number(served.capacity_requests_per_s ?? 0);
    return `Not stable: at most ${most} requests/s can be answered. More copies or accelerators, or fewer requests.`;
  }
  return null;
}

/** The memory of a rank of either; that of prefill holds prompts on their way alone. */
export function ofPool(served: ServedDocument, pool: PoolDocument, sequences: number): ServedDocument {
  return { ...served, memory_bytes: pool.memory_bytes, kv_tokens: pool.kv_tokens, sequences };
}

/** What lies in the memory of a rank; the cache takes what the engine finds free. */
export function memoryParts(served: ServedDocument): BarPart[] {
  const { weights, reserved, capacity } = served.memory_bytes;
  const room = Math.max(0, capacity - weights - reserved);
  const tokens = (served.sequences ?? 0) * (served.input_len + served.output_len);
  const used = served.kv_tokens > 0 ? room * Math.min(1, tokens / served.kv_tokens) : 0;
  return [
    { name: "weights", value: weights, colour: "var(--memory-parameters)" },
    {
      name: "engine",
      value: reserved,
      colour: "var(--memory-other)",
      meaning: "context, activations, logits, communicators",
    },
    {
      name: "cache in use",
      value: used,
      colour: "var(--memory-activations)",
      meaning: "of as many sequences as there are at most, at their full lengths",
    },
    { name: "cache to spare", value: room - used, colour: "var(--part-bubble)", meaning: "for more sequences" },
  ];
}

const kColours: Readonly<Record<PassPart, string>> = {
  products: "var(--part-compute)",
  attention: "var(--part-cp)",
  passes: "var(--part-optimizer)",
  tp: "var(--part-tp)",
  ep: "var(--part-ep)",
  cp: "var(--part-dp)",
  pp: "var(--part-pp)",
  host: "var(--part-other)",
};
const kMeaning: Readonly<Record<PassPart, string>> = {
  products: "matrix products",
  attention: "attention over the cache",
  passes: "norms, activations and the like, through memory",
  tp: "tensor-parallel calls",
  ep: "expert-parallel calls",
  cp: "keys and values of prompts that ranks share, results of decoded tokens",
  pp: "transfers from stage to stage",
  host: "the engine between passes and kernels",
};

export function passParts(pass: PassDocument): BarPart[] {
  return kPassParts.map((name) => ({ name, value: pass[name], colour: kColours[name], meaning: kMeaning[name] }));
}
