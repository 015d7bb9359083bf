// Expected beside measured: what differs, what it costs and what to do.
import { Figure } from "../../charts/Figure";
import { StackedBars } from "../../charts/StackedBars";
import type { Column } from "../../charts/table";
import { bytes, count, number, seconds } from "../../lib/format";
import type { ComparedDocument, ComparedRow } from "./documents";

const optional = (value: number | null, text: (value: number) => string) => (value === null ? "–" : text(value));
const times = (value: number) => (Number.isInteger(value) ? count(value) : number(value));
const groupOf = (row: ComparedRow) => row.groups.join(", ") || row.recorded_group || "";

export const kComparedColumns: Column<ComparedRow>[] = [
  { key: "group", head: "group", value: groupOf, align: "left" },
  { key: "expected_op", head: "expected", value: (r) => r.expected_op, align: "left" },
  { key: "measured_op", head: "measured", value: (r) => r.measured_op, align: "left" },
  { key: "match", head: "match", value: (r) => r.match, align: "left" },
  {
    key: "expected_count",
    head: "expected calls",
    value: (r) => r.expected_count,
    text: (r) => times(r.expected_count),
  },
  { key: "measured_count", head: "measured", value: (r) => r.measured_count, text: (r) => times(r.measured_count) },
  {
    key: "expected_bytes",
    head: "expected bytes",
    value: (r) => r.expected_bytes,
    text: (r) => bytes(r.expected_bytes),
  },
  { key: "measured_bytes", head: "measured", value: (r) => r.measured_bytes, text: (r) => bytes(r.measured_bytes) },
  {
    key: "expected_s",
    head: "expected time",
    value: (r) => r.expected_s,
    text: (r) => optional(r.expected_s, seconds),
  },
  { key: "transfer_s", head: "transfer", value: (r) => r.transfer_s, text: (r) => optional(r.transfer_s, seconds) },
  { key: "waiting_s", head: "waiting", value: (r) => r.waiting_s, text: (r) => optional(r.waiting_s, seconds) },
  {
    key: "slowdown",
    head: "slower by",
    value: (r) => r.slowdown,
    text: (r) => optional(r.slowdown, (v) => `${v.toFixed(2)} x`),
  },
];

const kTimes = [
  { key: "transfer", name: "transfer", colour: "var(--series-1)" },
  { key: "waiting", name: "waiting for other ranks", colour: "var(--part-bubble)" },
];

export function Compared({ document }: { document: ComparedDocument }) {
  return (
    <>
      <section class={`panel ${document.as_expected ? "" : "differs"}`}>
        <h2>{document.as_expected ? "It ran as expected." : "It did not run as expected."}</h2>
        <p>{document.verdict}</p>
        <p class="soft">
          {document.format}, {document.recorded_ranks} of {document.run_ranks} ranks, {times(document.steps)}{" "}
          {document.steps === 1 ? "step" : "steps"} ({document.steps_by}).
        </p>
        {document.findings.length > 0 && (
          <ol>
            {document.findings.map((finding) => (
              <li key={finding.text}>
                <strong>{finding.kind}</strong>: {finding.text}
              </li>
            ))}
          </ol>
        )}
      </section>
      <Figure
        title="Communication of a step"
        note="Seconds of a rank's calls."
        file="headway-compared"
        table={{ columns: kComparedColumns, rows: document.rows }}
        drawn={false}
        open
        document={document}
      >
        <StackedBars
          title="Communication of a step"
          rows={[
            { label: "expected", parts: { transfer: document.expected_s } },
            { label: "measured", parts: { transfer: document.transfer_s, waiting: document.waiting_s } },
          ]}
          categories={kTimes}
          text={seconds}
        />
      </Figure>
      {document.assumptions.length + document.omissions.length > 0 && (
        <ul class="notes">
          {document.assumptions.map((each) => (
            <li key={each}>{each}</li>
          ))}
          {document.omissions.map((each) => (
            <li key={each.what}>
              {each.what} ({each.count})
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
