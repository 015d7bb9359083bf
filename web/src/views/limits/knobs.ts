// The numbers of a setting that a slider moves: of the machine, of its network, of the run and of the
// laws by which models grow.
import type { Knob } from "../../lib/knob";
import type { MachineNumbers } from "./documents";

/** 16 bits where the machine has them, as the engine chooses where nothing is said. */
export function usualPrecision(machine: MachineNumbers): string {
  const known = ["bf16", "fp16", "fp32", "tf32", "fp8", "fp4"];
  return known.find((name) => machine.peak_flop_per_s[name] !== undefined) ?? "bf16";
}

/** Every number of the machine at a precision, then those of the run and of the study's laws. */
export function knobsOf(machine: MachineNumbers, precision: string): Knob[] {
  const out: Knob[] = [];
  const arithmetic = { group: "Arithmetic" } as const;
  const memory = { group: "Memory" } as const;
  const network = { group: "Network" } as const;
  const peak = machine.peak_flop_per_s[precision];
  if (peak !== undefined) {
    out.push({ key: `peak.${precision}`, label: `peak, ${precision}`, base: peak, unit: "FLOP/s", ...arithmetic });
  }
  const share = { least: 0.05, most: 1, step: 0.01 };
  out.push(
    {
      key: "sustained",
      label: "sustained share of the peak",
      base: machine.sustained_share,
      unit: "",
      linear: share,
      ...arithmetic,
    },
    { key: "compute_units", label: "compute units", base: machine.compute_units, unit: "", whole: true, ...arithmetic },
    {
      key: "kernel_latency",
      label: "kernel latency",
      base: machine.kernel_latency_s,
      unit: "s",
      reach: [-12, 4],
      ...arithmetic,
    },
    { key: "memory_bandwidth", label: "memory bandwidth", base: machine.memory_bytes_per_s, unit: "B/s", ...memory },
    { key: "memory", label: "memory size", base: machine.memory_bytes, unit: "B", ...memory },
    { key: "l2_bandwidth", label: "L2 bandwidth", base: machine.l2_bytes_per_s, unit: "B/s", ...memory },
    { key: "l2", label: "L2 size", base: machine.l2_bytes, unit: "B", ...memory },
    {
      key: "shared_bandwidth",
      label: "shared memory bandwidth",
      base: machine.shared_bytes_per_s,
      unit: "B/s",
      ...memory,
    },
    { key: "registers", label: "registers of a block", base: machine.registers_bytes, unit: "B", ...memory },
    {
      key: "register_blocks",
      label: "register blocks of a unit",
      base: machine.register_blocks,
      unit: "",
      whole: true,
      reach: [-2, 4],
      ...memory,
    },
  );
  for (const level of machine.levels) {
    const key = `levels.${level.name}`;
    if (level.size !== null) {
      out.push({
        key: `${key}.size`,
        label: `${level.name}: GPUs`,
        base: level.size,
        unit: "",
        whole: true,
        reach: [-2, 13],
        ...network,
      });
    }
    if (level.bytes_per_s !== null) {
      out.push({
        key: `${key}.bandwidth`,
        label: `${level.name}: bandwidth of a GPU`,
        base: level.bytes_per_s,
        unit: "B/s",
        reach: [-8, 8],
        ...network,
      });
    }
    out.push({
      key: `${key}.latency`,
      label: `${level.name}: latency`,
      base: level.latency_s,
      unit: "s",
      reach: [-10, 10],
      ...network,
    });
  }
  return [...out, ...kLaws];
}

// As the study has them: docs/limits.md, "A setting of one's own". A test asks the engine whether they
// are what it takes where nothing is said.
export const kLaws: readonly Knob[] = (
  [
    { key: "duration_months", label: "months a run may take", base: 3, unit: "" },
    { key: "tokens_per_parameter", label: "tokens per parameter", base: 20, unit: "" },
    { key: "batch.tokens", label: "useful batch at 3e23 FLOP, tokens", base: 4194304, unit: "" },
    {
      key: "batch.exponent",
      label: "exponent of the useful batch",
      base: 1 / 6,
      unit: "",
      linear: { least: 0, most: 0.4, step: 0.005 },
    },
    { key: "layers.coefficient", label: "coefficient of the layers", base: 0.10056, unit: "" },
    {
      key: "layers.exponent",
      label: "exponent of the layers",
      base: 0.3751,
      unit: "",
      linear: { least: 0, most: 0.5, step: 0.005 },
    },
    {
      key: "optimizer_words",
      label: "optimiser words per parameter",
      base: 4,
      unit: "",
      linear: { least: 0, most: 16, step: 0.5 },
    },
    {
      key: "steps_between_syncs",
      label: "steps between syncs of replicas",
      base: 1,
      unit: "",
      whole: true,
      reach: [0, 10],
    },
  ] satisfies Omit<Knob, "group">[]
).map((law) => ({ ...law, group: "Run and models" }));
