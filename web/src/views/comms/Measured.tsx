// What traces hold.
import { Columns } from "../../charts/Columns";
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { domainOf } from "../../charts/scales";
import { StackedBars } from "../../charts/StackedBars";
import type { Column } from "../../charts/table";
import { bytes, count, number, percent, seconds, si } from "../../lib/format";
import { mostOf } from "../../lib/sentences";
import type { MeasuredCalls, MeasuredDocument, MeasuredWaiting } from "./documents";

const optional = (value: number | null, text: (value: number) => string) => (value === null ? "–" : text(value));

const kCallColumns: Column<MeasuredCalls>[] = [
  { key: "group", head: "group", value: (c) => c.group, align: "left" },
  { key: "op", head: "operation", value: (c) => c.op, align: "left" },
  { key: "ranks", head: "ranks", value: (c) => c.ranks, text: (c) => count(c.ranks) },
  {
    key: "count",
    head: "count",
    value: (c) => c.count,
    text: (c) => (Number.isInteger(c.count) ? count(c.count) : number(c.count)),
  },
  { key: "bytes", head: "bytes", value: (c) => c.bytes, text: (c) => bytes(c.bytes) },
  { key: "wire_bytes", head: "on the wire", value: (c) => c.wire_bytes, text: (c) => bytes(c.wire_bytes) },
  {
    key: "smallest_bytes",
    head: "smallest",
    value: (c) => c.smallest_bytes,
    text: (c) => optional(c.smallest_bytes, bytes),
  },
  {
    key: "largest_bytes",
    head: "largest",
    value: (c) => c.largest_bytes,
    text: (c) => optional(c.largest_bytes, bytes),
  },
  { key: "seconds", head: "time", value: (c) => c.seconds, text: (c) => optional(c.seconds, seconds) },
  {
    key: "busbw_bytes_per_s",
    head: "busbw",
    value: (c) => c.busbw_bytes_per_s,
    text: (c) => optional(c.busbw_bytes_per_s, (v) => si(v, "B/s")),
  },
];

const kWaitingColumns: Column<MeasuredWaiting>[] = [
  { key: "group", head: "group", value: (w) => w.group, align: "left" },
  { key: "op", head: "operation", value: (w) => w.op, align: "left" },
  { key: "collectives", head: "collectives", value: (w) => w.collectives, text: (w) => count(w.collectives) },
  { key: "transfer_s", head: "transfer", value: (w) => w.transfer_s, text: (w) => seconds(w.transfer_s) },
  { key: "waiting_s", head: "waiting", value: (w) => w.waiting_s, text: (w) => seconds(w.waiting_s) },
  {
    key: "longest_wait_s",
    head: "longest wait",
    value: (w) => w.longest_wait_s,
    text: (w) => seconds(w.longest_wait_s),
  },
  { key: "last_rank", head: "most often last", value: (w) => w.last_rank },
];

const kOverlap = [
  { key: "compute", name: "computation", colour: "var(--part-compute)" },
  { key: "exposed", name: "exposed communication", colour: "var(--part-tp)" },
  { key: "idle", name: "idle", colour: "var(--part-bubble)" },
];

function callsSentence(calls: readonly MeasuredCalls[]): string {
  const sum = (of: (call: MeasuredCalls) => number | null) => calls.reduce((all, call) => all + (of(call) ?? 0), 0);
  const sized = sum((call) => call.bytes);
  return `The recorded ranks made ${count(sum((call) => call.count))} calls${sized > 0 ? ` of ${bytes(sized)} together` : ""}.`;
}

function waitingSentence(rows: readonly MeasuredWaiting[]): string {
  const [waiting, transfer] = [rows.reduce((all, row) => all + row.waiting_s, 0), rows.reduce((all, row) => all + row.transfer_s, 0)];
  if (!(waiting > 0)) return "The ranks did not wait for each other.";
  const most = rows.reduce((a, b) => (b.waiting_s > a.waiting_s ? b : a));
  return `Waiting for other ranks took ${percent(waiting / (waiting + transfer))} of the calls' time, most in ${most.op}, most often for rank ${most.last_rank}.`;
}

const overlapSum = (document: MeasuredDocument, key: string): number =>
  document.overlap.reduce((all, each) => all + (key === "compute" ? each.compute_s : key === "exposed" ? each.exposed_s : each.idle_s), 0);

export function Measured({ document }: { document: MeasuredDocument }) {
  const bins = document.histogram.bins;
  const rows = bins.map((bin) => ({
    label: bytes(bin.from_bytes),
    parts: { count: bin.count },
    detail: [["bytes", bytes(bin.bytes)] as [string, string]],
  }));
  return (
    <>
      <p>
        {document.format}; {document.ranks.length} {document.ranks.length === 1 ? "rank" : "ranks"},{" "}
        {document.source.length} {document.source.length === 1 ? "file" : "files"}.
      </p>
      <section class="panel">
        <h2>{callsSentence(document.calls_by_group)}</h2>
        <DataTable
          caption="Calls of all recorded ranks together"
          columns={kCallColumns}
          rows={document.calls_by_group}
        />
      </section>
      {document.waiting_by_group.length > 0 && (
        <section class="panel">
          <h2>{waitingSentence(document.waiting_by_group)}</h2>
          <DataTable caption="Waiting and transfer" columns={kWaitingColumns} rows={document.waiting_by_group} />
        </section>
      )}
      {document.overlap.length > 0 && (
        <section class="panel">
          <h2>{mostOf("the ranks' time", kOverlap.map(({ key, name }) => ({ name, value: overlapSum(document, key) })))}</h2>
          <StackedBars
            title="Where each rank's time went"
            rows={document.overlap.map((each) => ({
              label: `rank ${each.rank}`,
              parts: { compute: each.compute_s, exposed: each.exposed_s, idle: each.idle_s },
            }))}
            categories={kOverlap}
            text={seconds}
          />
        </section>
      )}
      {rows.length > 0 && (
        <Figure
          title="Calls by size"
          note="A bin reaches up to twice its size."
          file="headway-trace-sizes"
          document={document}
        >
          <Columns
            title="Calls by size"
            xLabel="message (bytes, powers of two)"
            y={{
              label: "calls recorded",
              kind: "linear",
              domain: domainOf(
                bins.map((bin) => bin.count),
                "linear",
                { zero: true },
              ),
            }}
            rows={rows}
            categories={[{ key: "count", name: "calls", colour: "var(--series-1)" }]}
            text={count}
            height={240}
            gap={0.08}
            turns
          />
        </Figure>
      )}
      <Omissions document={document} />
    </>
  );
}

function Omissions({ document }: { document: MeasuredDocument }) {
  const lines = [
    ...document.omissions.map((each) => `${each.what} (${count(each.count)})`),
    ...document.unread.map(({ file, why }) => `Not read: ${file} ${why}`),
    ...document.notes,
  ];
  if (lines.length === 0) return null;
  return (
    <ul class="notes">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
