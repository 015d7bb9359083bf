// What a run is expected to send.
import { useState } from "preact/hooks";

import { Facts } from "../../app/Facts";
import { Columns } from "../../charts/Columns";
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { binaryUnit, domainOf } from "../../charts/scales";
import { StackedBars } from "../../charts/StackedBars";
import { wholeOf } from "../../charts/stack";
import type { Column } from "../../charts/table";
import { bytes, count, number, percent, seconds, si } from "../../lib/format";
import { mostOf } from "../../lib/sentences";
import { place, setFields } from "../../lib/url";
import type { ExpectedCall, ExpectedDocument, LevelUse, Sums } from "./documents";
import { byGroup, bySize, groupCategories, kOpCategories, kQuantities, meanCalls, type Quantity } from "./volume";

// A mean over ranks need not be whole.
function times(value: number): string {
  return Number.isInteger(value) ? count(value) : number(value);
}

const kTexts: Readonly<Record<Quantity, (value: number) => string>> = {
  bytes,
  time: seconds,
  exposed: seconds,
  calls: times,
};

export function Expected({ document }: { document: ExpectedDocument }) {
  const given = place.value.fields.quantity;
  const quantity: Quantity = kQuantities.find(({ id }) => id === given)?.id ?? "bytes";
  const label = kQuantities.find(({ id }) => id === quantity)!.label;
  const text = kTexts[quantity];
  const calls = meanCalls(document.classes);
  const groups = byGroup(calls, quantity);
  const sizes = bySize(calls, quantity, bytes);
  const categories = groupCategories(calls);
  const highest = domainOf(
    sizes.map((row) => wholeOf(row, categories)),
    "linear",
    { zero: true },
  );
  const { all, small } = document.mean_rank;
  if (all.calls === 0) return <p>One accelerator alone sends nothing.</p>;
  return (
    <>
      <section class="panel" aria-live="polite">
        <h2>
          A rank sends {bytes(all.wire_bytes)} a step; {percent(all.exposed_s / document.step_time_s)} of the step waits for it.
        </h2>
        <Facts
          facts={[
            { name: "a rank sends, a step", value: bytes(all.wire_bytes) },
            {
              name: "calls",
              value: times(all.calls),
              about: `${count(Math.round(document.mean_rank.calls_per_s))} a second`,
            },
            { name: "their time", value: seconds(all.time_s) },
            {
              name: "exposed",
              value: seconds(all.exposed_s),
              about: `${percent(all.exposed_s / document.step_time_s)} of the step`,
            },
            { name: "small calls", value: percent(small.calls / all.calls), about: document.small_means },
            {
              name: "step",
              value: seconds(document.step_time_s),
              about: document.fits ? "" : "does not fit in memory",
            },
          ]}
        />
      </section>
      <p>
        <label for="comms-quantity">Count</label>{" "}
        <select
          id="comms-quantity"
          class="inline"
          value={quantity}
          onChange={(event) =>
            setFields({ quantity: event.currentTarget.value === "bytes" ? "" : event.currentTarget.value })
          }
        >
          {kQuantities.map((each) => (
            <option key={each.id} value={each.id}>
              {each.label}
            </option>
          ))}
        </select>
      </p>
      <section class="panel">
        <h2>{mostOf(`the ${label}`, groups.map((row) => ({ name: row.label, value: wholeOf(row, kOpCategories) })))}</h2>
        <StackedBars title={`By group: ${label}`} rows={groups} categories={kOpCategories} text={text} />
      </section>
      <Figure
        title={`By size of the message: ${label}`}
        note="Mean of all ranks, one step. A bin reaches up to the next."
        file="headway-comms-sizes"
        table={{ columns: kCallColumns, rows: document.classes.flatMap((each) => each.calls) }}
        document={document}
      >
        <Columns
          title={`By size of the message: ${label}`}
          xLabel="message (bytes, powers of two)"
          y={{
            label,
            kind: "linear",
            domain: highest,
            unit: quantity === "bytes" ? binaryUnit(highest[1]) : 1,
            format: (v) => (v === 0 ? "0" : text(v)),
          }}
          rows={sizes}
          categories={categories}
          text={text}
          height={260}
          gap={0.08}
          turns
        />
      </Figure>
      <section class="panel">
        <h2>{mostOf("the bytes", Object.entries(document.mean_rank.by_module).map(([name, sums]) => ({ name, value: sums.wire_bytes })))}</h2>
        <DataTable
          caption="Which layers it is for; messages with several by their weights"
          columns={kModuleColumns}
          rows={Object.entries(document.mean_rank.by_module).map(([name, sums]) => ({ name, sums, all }))}
        />
      </section>
      <section class="panel">
        <h2>{busiest(document.mean_rank.by_level)}</h2>
        <DataTable caption="What goes over each level" columns={kLevelColumns} rows={document.mean_rank.by_level} />
      </section>
      <Textbook document={document} />
      <Calls document={document} />
      {document.notes.length > 0 && (
        <ul class="notes">
          {document.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function busiest(levels: readonly LevelUse[]): string {
  const most = levels.reduce<LevelUse | null>((a, b) => (a === null || b.busy_share > a.busy_share ? b : a), null);
  return most ? `The busiest link is that of the ${most.level}: ${percent(most.busy_share)} of the step.` : "No link is used.";
}

interface ModuleUse {
  readonly name: string;
  readonly sums: Sums;
  readonly all: Sums;
}

const kModuleColumns: Column<ModuleUse>[] = [
  { key: "module", head: "kind", value: (m) => m.name, align: "left" },
  { key: "wire_bytes", head: "of a rank", value: (m) => m.sums.wire_bytes, text: (m) => bytes(m.sums.wire_bytes) },
  {
    key: "share",
    head: "share",
    value: (m) => m.sums.wire_bytes / m.all.wire_bytes,
    text: (m) => percent(m.sums.wire_bytes / m.all.wire_bytes),
  },
  { key: "calls", head: "calls", value: (m) => m.sums.calls, text: (m) => times(m.sums.calls) },
  { key: "exposed_s", head: "exposed", value: (m) => m.sums.exposed_s, text: (m) => seconds(m.sums.exposed_s) },
];

const kLevelColumns: Column<LevelUse>[] = [
  { key: "level", head: "level", value: (l) => l.level, align: "left" },
  { key: "wire_bytes", head: "of a rank", value: (l) => l.wire_bytes, text: (l) => bytes(l.wire_bytes) },
  {
    key: "bytes_each_port",
    head: "over a port",
    value: (l) => l.bytes_each_port,
    text: (l) => bytes(l.bytes_each_port),
  },
  {
    key: "bytes_per_s_port",
    head: "its bandwidth",
    value: (l) => l.bytes_per_s_port,
    text: (l) => si(l.bytes_per_s_port, "B/s"),
  },
  { key: "busy_share", head: "busy", value: (l) => l.busy_share, text: (l) => percent(l.busy_share) },
];

const kCallColumns: Column<ExpectedCall>[] = [
  { key: "group", head: "group", value: (c) => c.group, align: "left" },
  { key: "op", head: "operation", value: (c) => c.op, align: "left" },
  { key: "phase", head: "phase", value: (c) => c.phase, align: "left" },
  { key: "level", head: "level", value: (c) => c.level, align: "left" },
  { key: "ranks", head: "ranks", value: (c) => c.ranks, text: (c) => count(c.ranks) },
  { key: "bytes", head: "size", value: (c) => c.bytes, text: (c) => bytes(c.bytes) },
  { key: "count", head: "count", value: (c) => c.count, text: (c) => times(c.count) },
  { key: "wire_bytes", head: "on the wire", value: (c) => c.wire_bytes, text: (c) => bytes(c.wire_bytes) },
  { key: "seconds_each", head: "each", value: (c) => c.seconds_each, text: (c) => seconds(c.seconds_each) },
  { key: "exposed_s", head: "exposed", value: (c) => c.exposed_s, text: (c) => seconds(c.exposed_s) },
  { key: "hidden_by", head: "hidden by", value: (c) => c.hidden_by, align: "left" },
];

function Calls({ document }: { document: ExpectedDocument }) {
  const [index, setIndex] = useState(0);
  const { classes } = document;
  const shown = classes[Math.min(index, classes.length - 1)]!;
  const name = ({ first_stage, stages, ranks }: (typeof classes)[number]) =>
    `stage ${first_stage + 1}${stages > 1 ? ` to ${first_stage + stages}` : ""}, ${count(ranks)} ranks`;
  return (
    <section class="panel long">
      <header>
        <h2>What one rank calls, one after the other</h2>
        {classes.length > 1 && (
          <span>
            <label for="comms-class">of</label>{" "}
            <select
              id="comms-class"
              class="inline"
              value={String(index)}
              onChange={(event) => setIndex(Number(event.currentTarget.value))}
            >
              {classes.map((each, i) => (
                <option key={i} value={String(i)}>
                  {name(each)}
                </option>
              ))}
            </select>
          </span>
        )}
      </header>
      <DataTable caption={`Calls of a rank of ${name(shown)}`} columns={kCallColumns} rows={shown.calls} />
    </section>
  );
}

function Textbook({ document }: { document: ExpectedDocument }) {
  if (document.textbook.length === 0) return null;
  const columns: Column<ExpectedDocument["textbook"][number]>[] = [
    { key: "of", head: "of", value: (t) => t.of, align: "left" },
    { key: "formula", head: "textbook", value: (t) => t.formula, align: "left" },
    { key: "textbook_bytes", head: "its bytes", value: (t) => t.textbook_bytes, text: (t) => bytes(t.textbook_bytes) },
    {
      key: "framework_bytes",
      head: "the framework's",
      value: (t) => t.framework_bytes,
      text: (t) => bytes(t.framework_bytes),
    },
    { key: "ratio", head: "ratio", value: (t) => t.ratio, text: (t) => (t.ratio === null ? "–" : t.ratio.toFixed(3)) },
    { key: "reasons", head: "because", value: (t) => t.reasons.join("; "), align: "left" },
  ];
  return (
    <section class="panel">
      <h2>What the textbook says, and what the framework sends</h2>
      <DataTable
        caption="What formulas say beside what the framework sends"
        columns={columns}
        rows={document.textbook}
      />
    </section>
  );
}
