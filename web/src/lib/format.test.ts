import { expect, test } from "vitest";

import { bytes, change, count, dollars, duration, energy, many, mass, number, percent, seconds, si } from "./format";

// The same numbers as the command line prints them (README.md).
test("numbers have three digits and their unit, as on the command line", () => {
  expect(seconds(9.0234)).toBe("9.02 s");
  expect(seconds(0.00659)).toBe("6.59 ms");
  expect(seconds(216e-6)).toBe("216 us");
  expect(seconds(0)).toBe("0 s");
  expect(seconds(333.4)).toBe("333 s");
  expect(bytes(64 * 2 ** 20)).toBe("64.0 MiB");
  expect(bytes(0)).toBe("0 B");
  expect(bytes(16.1 * 2 ** 30)).toBe("16.1 GiB");
  expect(si(404e12, "FLOP/s")).toBe("404 TFLOP/s");
  expect(percent(0.4084)).toBe("40.8 %");
  expect(count(58123.4)).toBe("58,123");
});

test("rounding up to the next unit changes the unit", () => {
  expect(seconds(0.99996)).toBe("1.00 s");
  expect(seconds(0.99996e-3)).toBe("1.00 ms");
  expect(bytes(1023.99)).toBe("1.00 KiB");
  expect(si(999.9999e9, "FLOP/s")).toBe("1.00 TFLOP/s");
});

test("rounding up to another digit keeps three", () => {
  expect(number(9.996)).toBe("10.0");
  expect(number(99.97)).toBe("100");
  expect(number(0.09996)).toBe("0.100");
  expect(number(-9.996)).toBe("-10.0");
});

test("a change has a sign", () => {
  expect(change(1.173)).toBe("+17.3 %");
  expect(change(0.912)).toBe("-8.8 %");
  expect(change(1)).toBe("+0.0 %");
});

test("very large and very small numbers are powers", () => {
  expect(count(1.41e27)).toBe("1.41e+27");
  expect(number(2.5e-5)).toBe("2.50e-5");
});

test("a run's time, energy, carbon and money are in the units in which they are paid", () => {
  expect(duration(512046)).toBe("5.93 days");
  expect(duration(86399)).toBe("1.00 days");
  expect(duration(7200)).toBe("2.00 h");
  expect(duration(628)).toBe("10.5 min");
  expect(duration(2.16)).toBe("2.16 s");
  expect(duration(2.5e-11)).toBe("0 s");
  expect(energy(153708888693)).toBe("42.7 MWh");
  expect(mass(16438)).toBe("16.4 t");
  expect(mass(999.9)).toBe("1.00 t");
  expect(mass(12)).toBe("12.0 kg");
  expect(dollars(96719.77)).toBe("$96,720");
  expect(dollars(2.5)).toBe("$2.50");
});

test("tokens are counted in millions, billions and trillions", () => {
  expect(many(15.6e12)).toBe("15.6 T");
  expect(many(6.923e11)).toBe("692 B");
  expect(many(4194304)).toBe("4.19 M");
  expect(many(999_999)).toBe("999,999");
  expect(many(9.9999e11)).toBe("1.00 T");
});
