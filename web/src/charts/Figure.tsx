import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { DataTable } from "./DataTable";
import { savePng, saveSvg, saveText } from "./download";
import { csvOf, type Column } from "./table";

export interface FigureTable<R> {
  columns: Column<R>[];
  rows: readonly R[];
}

interface Props<R> {
  title: string;
  note?: string; // conventions: what is counted, what is not
  file: string; // name of what is downloaded, without its ending
  table?: FigureTable<R>;
  drawn?: boolean; // false: bars of text, of which there is no .svg
  open?: boolean; // the table is shown from the beginning
  document?: unknown; // the server's answer, as it came
  also?: { readonly name: string; readonly save: () => void }; // another form of it
  children: ComponentChildren;
}

/** A chart with its name, its conventions, the same numbers as a table, and downloads. */
export function Figure<R>({ title, note, file, table, drawn = true, open, document, also, children }: Props<R>) {
  const ref = useRef<HTMLElement>(null);
  const [shown, setShown] = useState(open ?? false); // a table that nobody sees is not made
  return (
    <figure class="chart" ref={ref}>
      <figcaption>
        <span class="chart-title">{title}</span>
        {note && <span class="chart-note">{note}</span>}
      </figcaption>
      {children}
      <div class="chart-foot">
        {table && (
          <details open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
            <summary>Numbers</summary>
            {shown && <DataTable caption={`${title}, in numbers`} columns={table.columns} rows={table.rows} />}
          </details>
        )}
        <div class="chart-downloads" role="group" aria-label={`Download ${title}`}>
          {table && (
            <button type="button" onClick={() => saveText(`${file}.csv`, "text/csv", csvOf(table.columns, table.rows))}>
              CSV
            </button>
          )}
          {drawn && (
            <button
              type="button"
              onClick={() => {
                const svg = ref.current?.querySelector<SVGSVGElement>("svg.chart-drawing");
                if (svg) saveSvg(`${file}.svg`, svg, title);
              }}
            >
              SVG
            </button>
          )}
          {drawn && (
            <button
              type="button"
              onClick={() => {
                const svg = ref.current?.querySelector<SVGSVGElement>("svg.chart-drawing");
                if (svg) void savePng(`${file}.png`, svg, title);
              }}
            >
              PNG
            </button>
          )}
          {document !== undefined && (
            <button
              type="button"
              onClick={() => saveText(`${file}.json`, "application/json", JSON.stringify(document, null, 2) + "\n")}
            >
              JSON
            </button>
          )}
          {also && (
            <button type="button" onClick={also.save}>
              {also.name}
            </button>
          )}
        </div>
      </div>
    </figure>
  );
}
