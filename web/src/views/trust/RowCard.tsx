// One measured run in full, with where it was published.
import { change, count, number, seconds } from "../../lib/format";
import type { TrustRow } from "./documents";
import { sourceLink } from "./rows";

export function RowCard({ row, onClose }: { row: TrustRow; onClose: () => void }) {
  const link = sourceLink(row.source);
  const facts: [string, string][] = [
    ["model", row.model ?? "not stated"],
    ["machine", `${row.n_accel ? count(row.n_accel) : "?"} x ${row.accelerator ?? "not stated"}`],
    ["framework", row.framework ?? "not stated"],
    ["layout", row.parallelism || "not stated"],
  ];
  if (row.measured_step_time_s !== null) facts.push(["measured step", seconds(row.measured_step_time_s)]);
  if (row.predicted_step_time_s !== null) {
    const off = row.error === null ? "" : ` (${change(1 + row.error)})`;
    facts.push(["predicted step", seconds(row.predicted_step_time_s) + off]);
  }
  if (row.interval_low_s !== null && row.interval_high_s !== null) {
    facts.push(["80 % interval", `${seconds(row.interval_low_s)} to ${seconds(row.interval_high_s)}`]);
  }
  if (row.measured_memory_gb !== null) facts.push(["measured memory", `${number(row.measured_memory_gb)} GiB`]);
  if (row.predicted_memory_gb !== null) facts.push(["predicted memory", `${number(row.predicted_memory_gb)} GiB`]);
  if (row.assumed) facts.push(["assumed, as the source does not say", row.assumed]);
  return (
    <section class="panel row-card" aria-label={`Run ${row.id}`}>
      <header>
        <h2>{row.id}</h2>
        <button type="button" class="quiet" onClick={onClose} aria-label="Close the run">
          ×
        </button>
      </header>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div>
          <dt>source</dt>
          <dd>
            {link ? (
              <a href={link} target="_blank" rel="noreferrer noopener">
                {row.source}
              </a>
            ) : (
              (row.source ?? row.source_key)
            )}
          </dd>
        </div>
      </dl>
    </section>
  );
}
