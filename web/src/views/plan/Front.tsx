// Time against memory: what no layout beats in both.
import { Figure } from "../../charts/Figure";
import { Scatter, type ScatterPoint } from "../../charts/Scatter";
import { domainOf, type Axis } from "../../charts/scales";
import type { Column } from "../../charts/table";
import type { PlanDocument, PlanPoint } from "../../lib/documents";
import { bytes, number, seconds, si } from "../../lib/format";
import { layoutWords, stepFields } from "../../lib/plan";
import { go, type Fields } from "../../lib/url";

const kGibi = 1024 ** 3;

const kColumns: Column<PlanPoint>[] = [
  { key: "step_time_s", head: "Step", value: (at) => at.step_time_s, text: (at) => seconds(at.step_time_s) },
  {
    key: "memory_that_must_fit_bytes",
    head: "Memory",
    value: (at) => at.memory_that_must_fit_bytes,
    text: (at) => bytes(at.memory_that_must_fit_bytes),
  },
  { key: "energy_j", head: "Energy", value: (at) => at.energy_j, text: (at) => si(at.energy_j, "J") },
  { key: "flags", head: "Layout", value: (at) => at.flags, text: (at) => layoutWords(at.flags), align: "left" },
];

export function Front({ plan, fields }: { plan: PlanDocument; fields: Fields }) {
  const gibi = (at: PlanPoint) => at.memory_that_must_fit_bytes / kGibi;
  const front = [...plan.pareto].sort((a, b) => a.step_time_s - b.step_time_s);
  const all: readonly PlanPoint[] = [...front, ...plan.best];
  const points: ScatterPoint[] = all.map((at, i) => ({
    x: at.step_time_s,
    y: gibi(at),
    colour: i < front.length ? "var(--series-1)" : "var(--series-2)",
    title: `${i < front.length ? "On the front" : `Best, ${i - front.length + 1}`}: ${layoutWords(at.flags)}`,
    lines: [
      ["step", seconds(at.step_time_s)],
      ["memory that must fit", bytes(at.memory_that_must_fit_bytes)],
      ["Enter or click", "opens it in Step"],
    ],
  }));
  // Between two of them nothing needs less memory than the faster one.
  const path = front.flatMap((at, i): [number, number][] => {
    const before = front[i - 1];
    const here: [number, number] = [at.step_time_s, gibi(at)];
    return before ? [[at.step_time_s, gibi(before)], here] : [here];
  });
  const capacity = plan.best[0] ? plan.best[0].capacity_bytes / kGibi : undefined;
  const x: Axis = {
    label: "time of a step (s)",
    kind: "log",
    domain: domainOf(all.map((at) => at.step_time_s), "log"),
    format: number,
  };
  const y: Axis = {
    label: "memory that must fit (GiB)",
    kind: "linear",
    domain: domainOf([0, capacity, ...all.map(gibi)], "linear", { zero: true }),
  };
  return (
    <Figure
      title="Time against memory"
      note={`No layout takes both less time and less memory than one on the blue line; orange: the best of each kind${
        capacity ? `; an accelerator has ${number(capacity)} GiB` : ""
      }.`}
      file="plan"
      table={{ columns: kColumns, rows: front }}
      document={plan}
    >
      <Scatter
        title="Time of a step against memory"
        x={x}
        y={y}
        points={points}
        path={path}
        height={340}
        onPick={(i) => {
          const at = i === null ? undefined : all[i];
          if (at) go("step", stepFields(fields, at.flags));
        }}
      />
    </Figure>
  );
}
