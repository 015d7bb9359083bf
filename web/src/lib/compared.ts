// Two answers number by number, one above the other.

export interface Compared {
  readonly name: string;
  readonly a: number | null;
  readonly b: number | null;
  readonly text: (value: number) => string;
}

/** A number of an answer, null or undefined where it has none: its name, where it stands, how it is written. */
export type ComparedRow<Document> = readonly [
  name: string,
  of: (document: Document) => number | null | undefined,
  text: (value: number) => string,
];

export function compared<Document>(rows: readonly ComparedRow<Document>[], a: Document, b: Document): Compared[] {
  return rows.map(([name, of, text]) => ({ name, a: of(a) ?? null, b: of(b) ?? null, text }));
}
