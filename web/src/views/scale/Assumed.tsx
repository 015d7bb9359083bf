// What an answer rests on, each with its source.
import { SheetNotes } from "../../app/Sheet";
import type { Assumption } from "./documents";

interface Props {
  assumptions: readonly Assumption[];
  notes: readonly string[];
}

export function Assumed({ assumptions, notes }: Props) {
  return (
    <>
      <SheetNotes notes={[...notes, ...assumptions.map((each) => `${each.name} ${each.value}: ${each.source}`)]} />
      <details class="no-print">
      <summary>Assumed</summary>
      <ul class="notes">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
        {assumptions.map((each) => (
          <li key={each.name}>
            {each.name} {each.value}: {each.source}
          </li>
        ))}
      </ul>
      </details>
    </>
  );
}

export function LeftOut({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section class="panel">
      <h2>Left out</h2>
      <ul class="notes">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}
