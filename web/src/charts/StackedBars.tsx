import type { BarsPicture } from "./barsPicture";
import { PictureButtons } from "./PictureButtons";
import { Legend } from "./Legend";
import type { Category } from "./palette";
import { piecesOf, presentCategories, wholeOf, type Row } from "./stack";

interface Props {
  title: string;
  rows: Row[];
  categories: readonly Category[];
  text: (value: number) => string; // of a piece, with the unit
  whole?: number; // length of a full bar; default: the longest row
}

/** Rows of parts that add up, as bars of a common scale, each piece with its value where there is room. */
export function StackedBars({ title, rows, categories, text, whole }: Props) {
  const present = presentCategories(rows, categories);
  const full = whole ?? Math.max(...rows.map((row) => wholeOf(row, present)), Number.MIN_VALUE);
  const picture = (): BarsPicture => ({
    title,
    rows: rows.map((row) => ({
      label: row.label,
      value: text(wholeOf(row, present)),
      pieces: piecesOf(row, present).map(({ value, colour }) => ({ share: value / full, colour })),
    })),
    key: present.map(({ key, name, colour }) => {
      const sum = rows.reduce((all, row) => all + Math.max(0, row.parts[key] ?? 0), 0);
      return { name, colour, text: rows.length === 1 ? text(sum) : "" };
    }),
  });
  return (
    <>
      {present.length > 1 && (
        <Legend entries={present.map((c) => ({ id: c.key, name: c.name, colour: c.colour, shape: "box" }))} />
      )}
      <ul class="bars" aria-label={title}>
        {rows.map((row, index) => (
          <li key={index}>
            <span class="bars-label">
              <span>{row.label}</span>
              <span class="bars-whole">{text(wholeOf(row, present))}</span>
            </span>
            <span class="bars-track">
              {piecesOf(row, present).map((piece) => (
                <span
                  key={piece.key}
                  class="bars-piece"
                  title={`${piece.name}: ${text(piece.value)}`}
                  style={{ width: `${(100 * piece.value) / full}%`, background: piece.colour }}
                />
              ))}
            </span>
            <span class="hidden">
              {piecesOf(row, present)
                .map((piece) => `${piece.name} ${text(piece.value)}`)
                .join(", ")}
            </span>
          </li>
        ))}
      </ul>
      <PictureButtons picture={picture} />
    </>
  );
}
