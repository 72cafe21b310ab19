import assert from "node:assert/strict";
import { test } from "node:test";
import { logScale, power } from "../src/pictures/log_scale.ts";

test("0 stands a decade below the smallest value, and there only", () => {
  const scale = logScale([0, 3e-4, 0.2, null]);
  assert.equal(scale.place(0), 1e-5);
  assert.equal(scale.low, 1e-5);
  assert.equal(scale.high, 1);
  assert.equal(scale.place(3e-4), 3e-4);
});

test("without a 0 the axis begins at the smallest value's decade", () => {
  const scale = logScale([1e-3, 0.5, Infinity, NaN]);
  assert.equal(scale.low, 1e-3);
  assert.equal(scale.high, 1);
});

test("values that are all 0, or none, still make an axis", () => {
  for (const values of [[0], [], [null]]) {
    const scale = logScale(values);
    assert.ok(scale.low > 0 && scale.high > scale.low);
    assert.ok(scale.place(0) >= scale.low);
  }
});

test("decades are powers of ten with raised exponents", () => {
  assert.equal(power(1e-5), "10⁻⁵");
  assert.equal(power(1e-12), "10⁻¹²");
  assert.equal(power(0.01), "0.01");
  assert.equal(power(1e6), "10⁶");
  assert.equal(power(2e-4), "2·10⁻⁴");
  assert.equal(power(5e3), "5·10³");
});
