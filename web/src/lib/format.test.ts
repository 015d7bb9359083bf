import { expect, test } from "vitest";

import { bytes, change, count, number, percent, seconds, si } from "./format";

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
