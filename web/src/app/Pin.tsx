// Pins the present run as A, and sets what follows beside it.
import type { BarsPicture } from "../charts/barsPicture";
import { PictureButtons } from "../charts/PictureButtons";
import type { Compared } from "../lib/compared";
import { change } from "../lib/format";
import { backToPinned, pinnedIn, pinThis, unpin } from "../lib/pinned";
import { nameOf } from "../lib/run";
import type { Fields } from "../lib/url";

interface PinBarProps {
  readonly fields: Fields | null;
  /** What the present has otherwise than A, where fields of the address do not tell it. */
  readonly words?: (a: Fields, b: Fields) => string;
}

// As style.css has them.
const kColourOfA = "var(--series-2)";
const kColourOfNow = "var(--series-1)";
const kNothingYet = "change a field, and both stand here.";

export function PinBar({ fields, words = changedWords }: PinBarProps) {
  const pinned = fields && pinnedIn(fields);
  if (!fields) return null;
  return (
    <p class="buttons pin no-print">
      {pinned ? (
        <>
          <span>
            Beside <strong>A</strong>: {words(pinned, fields) || kNothingYet}
          </span>
          <button type="button" onClick={backToPinned}>
            Back to A
          </button>
          <button type="button" onClick={unpin}>
            Unpin A
          </button>
        </>
      ) : (
        <button type="button" onClick={() => pinThis(fields)}>
          Pin as A, to compare
        </button>
      )}
    </p>
  );
}

/** "gpus 64 → 128, tp 8 → 4": what the present run has otherwise than A. */
function changedWords(a: Fields, b: Fields): string {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => name !== "pin" && (a[name] ?? "") !== (b[name] ?? ""));
  const short = (text: string | undefined) => (text ? nameOf(text) : "none");
  return names.map((name) => `${name} ${short(a[name])} → ${short(b[name])}`).join(", ");
}

/** The two in numbers, with bars over each other: A above, the present below. */
export function Differences({ rows }: { rows: readonly Compared[] }) {
  return (
    <section class="panel" aria-labelledby="differences">
      <h2 id="differences">What changes against A</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table: what changes against A">
        <table data-table="differences">
          <thead>
            <tr>
              <th scope="col">Of</th>
              <th scope="col" class="n">
                A
              </th>
              <th scope="col" class="n">
                now
              </th>
              <th scope="col" class="n">
                change
              </th>
              <th scope="col">A above, now below</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, a, b, text }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="n">{a === null ? "–" : text(a)}</td>
                <td class="n">{b === null ? "–" : text(b)}</td>
                <td class="n">{a && b !== null ? change(b / a) : "–"}</td>
                <td class="over" aria-hidden="true">
                  <Over a={a ?? 0} b={b ?? 0} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <PictureButtons picture={() => picture(rows)} />
    </section>
  );
}

// Of each row a bar of A and one of the present, against the longer of the two.
function picture(rows: readonly Compared[]): BarsPicture {
  const bar = (label: string, value: number | null, most: number, text: (value: number) => string, colour: string) => ({
    label,
    value: value === null ? "–" : text(value),
    pieces: [{ share: Math.max(0, value ?? 0) / (most || 1), colour }],
  });
  return {
    title: "What changes against A",
    rows: rows.flatMap(({ name, a, b, text }) => {
      const most = Math.max(a ?? 0, b ?? 0);
      return [bar(`${name}, A`, a, most, text, kColourOfA), bar(`${name}, now`, b, most, text, kColourOfNow)];
    }),
    key: [],
  };
}

function Over({ a, b }: { a: number; b: number }) {
  const most = Math.max(a, b, 0) || 1;
  const width = (value: number) => `${((100 * Math.max(0, value)) / most).toFixed(2)}%`;
  return (
    <>
      <span class="over-a" style={{ width: width(a) }} />
      <span class="over-b" style={{ width: width(b) }} />
    </>
  );
}
