import { useState } from "preact/hooks";
import { separated } from "../lib/format";
import { sorted, type Cell, type Column } from "./table";

interface Props<R> {
  caption: string;
  columns: Column<R>[];
  rows: readonly R[];
  most?: number; // rows shown before "more" is asked for
  selected?: (row: R) => boolean;
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return "–";
  if (typeof cell === "number") return separated(Number(cell.toPrecision(6)));
  return String(cell);
}

/** Rows that can be sorted by each column; long tables show their first rows until more is asked for. */
export function DataTable<R>({ caption, columns, rows, most = 60, selected }: Props<R>) {
  const [by, setBy] = useState<{ key: string; descending: boolean } | null>(null);
  const [limit, setLimit] = useState(most);
  const column = by && columns.find((c) => c.key === by.key);
  const ordered = column ? sorted(rows, column, by.descending) : rows;
  const turn = (key: string) =>
    setBy(by?.key !== key ? { key, descending: false } : by.descending ? null : { key, descending: true });
  return (
    <div class="chart-table" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th
                key={c.key}
                scope="col"
                class={c.align === "left" ? "" : "number"}
                aria-sort={by?.key !== c.key ? "none" : by.descending ? "descending" : "ascending"}
              >
                <button type="button" onClick={() => turn(c.key)}>
                  {c.head}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.slice(0, limit).map((row, index) => (
            <tr key={index} class={selected?.(row) ? "selected" : undefined}>
              {columns.map((c) => (
                <td key={c.key} class={c.align === "left" ? "" : "number"}>
                  {c.cell ? c.cell(row) : c.text ? c.text(row) : shown(c.value(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {ordered.length > limit && (
        <button type="button" class="chart-more" onClick={() => setLimit(limit + 10 * most)}>
          {separated(ordered.length - limit)} more rows
        </button>
      )}
    </div>
  );
}
