import { useState } from "preact/hooks";
import { Axes, marginFor, plotOf } from "./Axes";
import { Legend } from "./Legend";
import { stepped } from "./nearest";
import type { Category } from "./palette";
import { Pointed } from "./Pointed";
import type { Axis } from "./scales";
import { piecesOf, presentCategories, wholeOf, type Row } from "./stack";
import type { Hint } from "./Tooltip";
import { useWidth } from "./width";

interface Props {
  title: string;
  xLabel: string;
  y: Axis;
  rows: Row[];
  categories: readonly Category[];
  text: (value: number) => string; // of a piece, with the unit
  height?: number;
  turns?: boolean; // the reader may have a logarithmic height
  gap?: number; // share of a column's room that stays empty; 0 for a histogram
}

/** Columns of parts that add up: one for each point of a sweep, or for each bin of a histogram. */
export function Columns({ title, xLabel, y: given, rows, categories, text, height = 280, gap = 0.25, turns = false }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number | null>(null);
  const present = presentCategories(rows, categories);
  const wholes = rows.map((row) => wholeOf(row, present)).filter((whole) => whole > 0);
  const [log, setLog] = useState(false);
  const mayTurn = turns && wholes.length > 1;
  // Each column from a fourth of the shortest on, so that the least of them is seen.
  const y: Axis = log && mayTurn ? { ...given, kind: "log", domain: [Math.min(...wholes) / 4, Math.max(...wholes) * 1.1] } : given;
  const margin = { ...marginFor(y, height), right: 26 }; // half a label of the last column
  const x: Axis = { label: xLabel, kind: "linear", domain: [0, Math.max(1, rows.length)] };
  const plot = plotOf(x, y, width, height, margin);
  const room = plot.x(1) - plot.x(0);
  const zero = plot.y(Math.max(0, y.domain[0]));
  const longest = Math.max(1, ...rows.map((row) => row.label.length));
  const everyth = Math.max(1, Math.ceil((longest * 6.5 + 10) / room));
  const row = at === null ? undefined : rows[at];
  const pieces = row ? piecesOf(row, present) : [];
  const last = pieces[pieces.length - 1];
  const hint: Hint | null =
    row && at !== null
      ? {
          x: plot.x(at + 0.5),
          y: plot.y(last?.to ?? 0),
          title: row.label,
          lines: [...pieces.map((p): [string, string] => [p.name, text(p.value)]), ...(row.detail ?? [])],
        }
      : null;

  const onPoint = (x: number) => {
    const index = Math.floor((x - margin.left) / room);
    setAt(index >= 0 && index < rows.length ? index : null);
  };
  const onKey = (key: string) => {
    const next = stepped(rows.length, at, key);
    if (next !== null) setAt(next);
    return next !== null;
  };
  return (
    <>
      {present.length > 1 && (
        <Legend entries={present.map((c) => ({ id: c.key, name: c.name, colour: c.colour, shape: "box" }))} />
      )}
      <Pointed
        title={title}
        reads="columns"
        drawn={`${y.label} by ${xLabel}`}
        plotRef={ref}
        width={width}
        height={height}
        hint={hint}
        onPoint={onPoint}
        onKey={onKey}
        onLeave={() => setAt(null)}
      >
        <Axes plot={plot} x={{ ...x, format: () => "" }} y={y} bare />
        {rows.map((each, index) => (
          <g key={index} opacity={at === null || at === index ? 1 : 0.55}>
            {piecesOf(each, present).map((piece) => (
              <rect
                key={piece.key}
                x={plot.x(index) + (room * gap) / 2}
                width={Math.max(0.5, room * (1 - gap))}
                y={plot.y(Math.max(piece.to, y.domain[0]))}
                height={Math.max(0, Math.min(zero, plot.y(Math.max(piece.from, y.domain[0]))) - plot.y(Math.max(piece.to, y.domain[0])))}
                style={{ fill: piece.colour }}
              />
            ))}
            {index % everyth === 0 && (
              <text class="chart-tick" x={plot.x(index + 0.5)} y={height - margin.bottom + 18} text-anchor="middle">
                {each.label}
              </text>
            )}
          </g>
        ))}
      </Pointed>
      {mayTurn && (
        <div class="chart-shown no-print" role="group" aria-label={`Axes of ${title}`}>
          <button type="button" aria-pressed={log} onClick={() => setLog(!log)}>
            log height
          </button>
          {log && <span class="soft">By logarithms a column's height is its sum; what it is made of is in the tooltip.</span>}
        </div>
      )}
    </>
  );
}
