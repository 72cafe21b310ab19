import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { digits, duration, format, interval, tick } from "../src/format.ts";

test("as many digits after rounding as were asked for", () => {
  assert.equal(digits(0.9999), "1.00");
  assert.equal(digits(1), "1.00");
  assert.equal(digits(0.9994), "0.999");
  assert.equal(digits(99.96), "100");
  assert.equal(digits(-9.999), "-10.0");
  assert.equal(digits(9.9999e-6), "0.0000100");
  assert.equal(digits(12345), "12345");
  assert.equal(digits(0), "0");
});

test("an interval around a power of ten gets the digits that tell its ends apart", () => {
  const ms = { name: "ms", factor: 1e-3 };
  assert.equal(interval(0.00099958, 0.0010004, ms), "[0.9996, 1.000]");
  assert.equal(interval(0.00194, 0.00212, ms), "[1.94, 2.12]");
  assert.equal(interval(0.001, 0.001, ms), "[1.00, 1.00]");
});

test("units are picked by what is shown", () => {
  assert.equal(format("s", 0.0009999), "1.00 ms");
  assert.equal(format("s", 0.0009), "900 µs");
  assert.equal(format("bytes", 1.5e9), "1.50 GB");
  assert.equal(format("s", null), "–");
});

test("marks of an axis are as short as they can be", () => {
  assert.deepEqual([0.00098, 0.001, 0.00102].map((value) => tick(value, { name: "ms", factor: 1e-3 })), ["0.98", "1", "1.02"]);
});

test("figures are those of the console, digit for digit", () => {
  const golden = JSON.parse(readFileSync("../tests/golden/figures.json", "utf8")) as { value: number; time: string; bytes: string; rate: string; ratio: string; duration: string }[];
  assert.ok(golden.length >= 200);
  for (const { value, ...shown } of golden) {
    assert.deepEqual(
      { time: format("s", value), bytes: format("bytes", value), rate: format("items/s", value), ratio: format("ratio", value).replace("×", "x"), duration: duration(value) },
      shown,
      String(value),
    );
  }
});
