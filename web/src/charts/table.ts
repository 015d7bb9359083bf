// Tables as values: the same rows for the screen reader, the screen and the .csv.
import type { ComponentChild } from "preact";

export type Cell = number | string | boolean | null | undefined;

export interface Column<R> {
  key: string;
  head: string; // with the unit
  value: (row: R) => Cell; // as it is sorted and written to a file: SI units
  text?: (row: R) => string; // as it is read
  cell?: (row: R) => ComponentChild; // as it is shown, where it is more than text
  align?: "left" | "right";
}

/** A column of numbers, each read as `text` says; what has none is a dash. */
export function numbers<R>(
  key: string,
  head: string,
  value: (row: R) => number | null | undefined,
  text: (value: number) => string,
): Column<R> {
  const read = (row: R) => {
    const known = value(row);
    return known === null || known === undefined ? "–" : text(known);
  };
  return { key, head, value, text: read };
}

/** A field of RFC 4180; text that a spreadsheet would run as a formula is quoted by an apostrophe. */
export function csvField(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "string") return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf<R>(columns: Column<R>[], rows: readonly R[]): string {
  const lines = [columns.map((c) => csvField(c.key)).join(",")];
  for (const row of rows) lines.push(columns.map((c) => csvField(c.value(row))).join(","));
  return lines.join("\n") + "\n";
}

function absent(cell: Cell): boolean {
  return cell === null || cell === undefined || cell === "" || (typeof cell === "number" && Number.isNaN(cell));
}

/** Rows by a column; what has no value stands last whichever way. Equal rows keep their order. */
export function sorted<R>(rows: readonly R[], column: Column<R>, descending: boolean): R[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = column.value(a);
    const y = column.value(b);
    if (absent(x) || absent(y)) return Number(absent(x)) - Number(absent(y));
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}
