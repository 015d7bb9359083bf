// One way of serving in a few numbers, its memory and the parts of its passes.
import type { Fact } from "../../app/Facts";
import type { BarPart } from "../../charts/SumBar";
import { count, dollars, number, percent, seconds } from "../../lib/format";
import {
  kPassParts,
  type GainedDocument,
  type PassDocument,
  type PassPart,
  type QuantilesDocument,
  type ServedDocument,
} from "./documents";

function quantiles(of: QuantilesDocument | undefined): string {
  return of ? `p50 ${seconds(of.p50)}, p90 ${seconds(of.p90)}, p99 ${seconds(of.p99)}` : "";
}

export function factsOf(served: ServedDocument & GainedDocument): Fact[] {
  const facts: Fact[] = [
    { name: "First token", value: seconds(served.ttft_s), about: ["mean", quantiles(served.quantiles?.ttft_s)] },
    {
      name: "Each token after it",
      value: seconds(served.tpot_s),
      about: [
        served.tokens_per_s_per_user ? `${number(served.tokens_per_s_per_user)} tokens/s of a user` : "",
        quantiles(served.quantiles?.tpot_s),
      ],
    },
    { name: "Whole answer", value: seconds(served.latency_s), about: quantiles(served.quantiles?.latency_s) },
    {
      name: "Output tokens/s",
      value: count(served.throughput_output_tok_s),
      about: [
        `${number(served.tokens_per_s_per_gpu)} an accelerator`,
        `${count(served.throughput_total_tok_s)} with prompts`,
      ],
    },
    {
      name: "At a time",
      value: `${count(served.sequences)} sequences`,
      about: served.layout.dp > 1 ? "of each copy, at most" : "at most",
    },
  ];
  if (served.capacity_requests_per_s !== undefined) {
    facts.push({
      name: "Capacity",
      value: `${number(served.capacity_requests_per_s)} requests/s`,
      about: `${percent((served.rate ?? 0) / served.capacity_requests_per_s)} of it is asked for`,
    });
  }
  if (served.share_within_limits !== undefined) {
    facts.push({ name: "Within the limits", value: percent(served.share_within_limits), about: "of all requests" });
  }
  if (served.price_per_million_tokens !== undefined) {
    facts.push({ name: "A million tokens", value: dollars(served.price_per_million_tokens), about: "of output" });
  }
  return facts;
}

/** Why there are no times, in words; null where there are. */
export function whyNot(served: ServedDocument): string | null {
  if (!served.fits) {
    const why =
      served.kv_tokens <= 0 ? "the weights alone are too large" : "the cache of these sequences is too large";
    return `It does not fit: ${why}. More tensor or pipeline parallelism, smaller formats, or fewer sequences.`;
  }
  if (served.ttft_s === undefined) {
    const most = number(served.capacity_requests_per_s ?? 0);
    return `Not stable: at most ${most} requests/s can be answered. More copies or accelerators, or fewer requests.`;
  }
  return null;
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
      meaning: "activations, graphs, communicators",
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
  pp: "var(--part-pp)",
  host: "var(--part-other)",
};
const kMeaning: Readonly<Record<PassPart, string>> = {
  products: "matrix products",
  attention: "attention over the cache",
  passes: "norms, activations and the like, through memory",
  tp: "tensor-parallel calls",
  ep: "expert-parallel calls",
  pp: "transfers from stage to stage",
  host: "the engine between passes and kernels",
};

export function passParts(pass: PassDocument): BarPart[] {
  return kPassParts.map((name) => ({ name, value: pass[name], colour: kColours[name], meaning: kMeaning[name] }));
}
