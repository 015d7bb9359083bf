// The parts of a step in the order in which they are always shown, each with its colour everywhere.

export const kParts = ["compute", "tp", "cp", "ep", "pp", "dp", "bubble", "optimizer", "other"] as const;
export type Part = (typeof kParts)[number];

/** What a part means, for legends and help. */
export const kPartMeaning: Readonly<Record<Part, string>> = {
  compute: "computation of the slowest stage",
  tp: "tensor-parallel calls that nothing hides",
  cp: "context-parallel calls that nothing hides",
  ep: "expert-parallel calls that nothing hides",
  pp: "pipeline transfers that nothing hides",
  dp: "data-parallel calls that nothing hides",
  bubble: "idle: the pipeline fills and drains",
  optimizer: "the optimiser's update",
  other: "launches, hosts, input and the like",
};

/** What takes the time, in a sentence. */
export const kPartNames: Readonly<Record<Part, string>> = {
  compute: "computation",
  tp: "waiting for tp",
  cp: "waiting for cp",
  ep: "waiting for ep",
  pp: "waiting for pp",
  dp: "waiting for dp",
  bubble: "the bubble",
  optimizer: "the optimiser",
  other: "launches and hosts",
};

/** The colour of a part as a CSS value (style.css defines them for light and dark). */
export function partColour(part: string): string {
  return (kParts as readonly string[]).includes(part) ? `var(--part-${part})` : "var(--part-other)";
}

export const kMemory = ["parameters", "gradients", "optimizer", "activations", "buffers", "other"] as const;
export type MemoryKind = (typeof kMemory)[number];

export const kMemoryMeaning: Readonly<Record<MemoryKind, string>> = {
  parameters: "weights",
  gradients: "gradients",
  optimizer: "optimiser states",
  activations: "activations kept for the backward pass",
  buffers: "buffers of gathered and reduced tensors",
  other: "context, workspaces, gaps of the allocator",
};

export function memoryColour(kind: MemoryKind): string {
  return `var(--memory-${kind})`;
}
