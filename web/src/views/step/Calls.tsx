// The calls of a rank that sets the pace.
import { DataTable } from "../../charts/DataTable";
import type { Column } from "../../charts/table";
import type { CallDocument } from "../../lib/documents";
import { bytes, count, seconds } from "../../lib/format";

const kColumns: Column<CallDocument>[] = [
  { key: "group", head: "Group", value: (call) => call.group, align: "left" },
  { key: "op", head: "Operation", value: (call) => call.op, align: "left" },
  { key: "phase", head: "Phase", value: (call) => call.phase, align: "left" },
  { key: "level", head: "Level", value: (call) => call.level, align: "left" },
  { key: "ranks", head: "Ranks", value: (call) => call.ranks, text: (call) => count(call.ranks) },
  { key: "dtype", head: "Type", value: (call) => call.dtype, align: "left" },
  { key: "bytes", head: "Size", value: (call) => call.bytes, text: (call) => bytes(call.bytes) },
  { key: "count", head: "Count", value: (call) => call.count, text: (call) => count(call.count) },
  { key: "each_s", head: "Each", value: (call) => call.seconds_each, text: (call) => seconds(call.seconds_each) },
  { key: "exposed_s", head: "Exposed", value: (call) => call.exposed_s, text: (call) => seconds(call.exposed_s) },
];

export function Calls({ calls }: { calls: readonly CallDocument[] }) {
  if (calls.length === 0) return <p class="soft">One accelerator: nothing is sent.</p>;
  const rows = [...calls].sort((a, b) => b.exposed_s - a.exposed_s);
  return (
    <>
      <p class="soft">
        Size: of one message. Count: in a step. Each: seconds of one. Exposed: seconds of all that no computation hides;
        the most exposed stands first.
      </p>
      <DataTable caption="Calls of one rank of the stage that sets the pace" columns={kColumns} rows={rows} />
    </>
  );
}
