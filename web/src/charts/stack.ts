import type { Category } from "./palette";

// Parts that add up to a whole, laid end to end.

export interface Row {
  label: string;
  parts: Readonly<Record<string, number>>;
  detail?: [string, string][]; // further lines of the tooltip
}

export interface Piece {
  key: string;
  name: string;
  colour: string;
  from: number;
  to: number;
  value: number;
}

/** The pieces of one row in the order of the categories; what is nothing is left out. */
export function piecesOf(row: Row, categories: readonly Category[]): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const { key, name, colour } of categories) {
    const value = row.parts[key] ?? 0;
    if (!(value > 0)) continue;
    out.push({ key, name, colour, from: at, to: at + value, value });
    at += value;
  }
  return out;
}

export function wholeOf(row: Row, categories: readonly Category[]): number {
  return categories.reduce((sum, { key }) => sum + Math.max(0, row.parts[key] ?? 0), 0);
}

/** Categories of which some row has something: a legend names nothing that is not to be seen. */
export function presentCategories(rows: readonly Row[], categories: readonly Category[]): Category[] {
  return categories.filter(({ key }) => rows.some((row) => (row.parts[key] ?? 0) > 0));
}

/** Every row as shares of its own whole. */
export function asShares(rows: readonly Row[], categories: readonly Category[]): Row[] {
  return rows.map((row) => {
    const whole = wholeOf(row, categories);
    const parts: Record<string, number> = {};
    for (const { key } of categories) parts[key] = whole > 0 ? (row.parts[key] ?? 0) / whole : 0;
    return { ...row, parts };
  });
}
