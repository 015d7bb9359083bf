// Numbers as the command line prints them: three significant digits, the unit in the text.

// Made once: making one takes longer than a picture of numbers may.
const kGrouped = new Intl.NumberFormat("en-US");

/** With separators between thousands: "12,345.5". */
export function separated(value: number): string {
  return kGrouped.format(value);
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1000) return separated(Math.round(value));
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
  const text = value.toFixed(digits);
  // 9.996 rounds to 10.00, which has a digit too many.
  return Math.abs(Number(text)) >= 10 ** (3 - digits) && digits > 0 ? value.toFixed(digits - 1) : text;
}

function scaled(value: number, base: number, units: readonly string[]): string {
  let unit = 0;
  // 999.6 would print as 1,000.
  while (unit < units.length - 1 && Math.abs(value) >= base * (1 - 0.0005)) {
    value /= base;
    unit += 1;
  }
  return `${threeDigits(value)} ${units[unit]}`;
}

/** Seconds: "254 us", "14.6 s"; long times in days. */
export function seconds(value: number): string {
  if (value === 0) return "0 s";
  const size = Math.abs(value);
  if (size < 1e-6) return `${threeDigits(value * 1e9)} ns`;
  if (size < 0.9995e-3) return `${threeDigits(value * 1e6)} us`;
  if (size < 0.9995) return `${threeDigits(value * 1e3)} ms`;
  if (size < 2 * 86400) return `${threeDigits(value)} s`;
  return `${threeDigits(value / 86400)} days`;
}

/** How long a run or a part of it takes: "5.93 days", "10.5 min"; what is less than a millisecond is
 * nothing there. */
export function duration(value: number): string {
  const size = Math.abs(value);
  if (size < 1e-3) return "0 s";
  if (size < 0.9995 * 60) return seconds(value);
  if (size < 0.9995 * 3600) return `${threeDigits(value / 60)} min`;
  if (size < 0.9995 * 86400) return `${threeDigits(value / 3600)} h`;
  return `${threeDigits(value / 86400)} days`;
}

/** Joules of a run in watt-hours: "42.7 MWh". */
export function energy(joules: number): string {
  return si(joules / 3600, "Wh");
}

/** Kilograms, from a thousand on in tonnes: "16.4 t". */
export function mass(kilograms: number): string {
  return kilograms < 999.5 ? `${threeDigits(kilograms)} kg` : `${threeDigits(kilograms / 1000)} t`;
}

/** US dollars: "$96,720". */
export function dollars(value: number): string {
  return `$${threeDigits(value)}`;
}

/** Bytes in binary multiples: "67.7 GiB". */
export function bytes(value: number): string {
  return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
}

/** A number with a decimal multiple before its unit: si(4.04e14, "FLOP/s") is "404 TFLOP/s". */
export function si(value: number, unit: string): string {
  return scaled(value, 1000, ["", "k", "M", "G", "T", "P", "E"].map((multiple) => multiple + unit));
}

/** A share of one in percent: percent(0.4324) is "43.2 %". */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** A change against 1 in percent, signed: change(1.05) is "+5.0 %". */
export function change(ratio: number): string {
  const text = ((ratio - 1) * 100).toFixed(1);
  return `${Number(text) >= 0 ? "+" : ""}${text} %`;
}

/** A whole number with separators; very large ones in powers of ten: "1.41e+27". */
export function count(value: number): string {
  if (Math.abs(value) >= 1e15) return value.toExponential(2);
  return separated(Math.round(value));
}

/** Many things, as tokens and parameters are counted: "1.41 T", "692 B", "4.19 M"; fewer than a million in
 * full. */
export function many(value: number): string {
  return value < 1e6 ? count(value) : scaled(value / 1e6, 1000, ["M", "B", "T"]);
}

/** A plain number in three significant digits. */
export function number(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  return threeDigits(value);
}

/** How far long work is: "120 of 4,000 layouts". */
export function progressWords({ done, of, what }: { done: number; of: number | null; what: string }): string {
  return `${count(done)}${of ? ` of ${count(of)}` : ""} ${what}`;
}
