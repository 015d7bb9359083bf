// A view on paper: one sheet with what is answered, what it rests on, and where it is from.

export function PrintButton() {
  return (
    <button type="button" onClick={() => print()}>
      Print on one page
    </button>
  );
}

/** The last lines of a sheet. `of`: what the numbers are from besides. */
export function SheetEnd({ of = "measurements and constants" }: { of?: string }) {
  return (
    <p class="print-only">
      Specifications, {of} with their sources: data/ of Headway. Address: {location.href}
    </p>
  );
}

/** What an answer rests on, in the room that paper has. */
export function SheetNotes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return <p class="print-only sheet-notes">Assumed: {notes.join("; ")}.</p>;
}
