// Lines end where their axis does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutLine } from "../src/pictures/cut.ts";
import type { Point } from "../src/pictures/cut.ts";

test("what lies within stays as it is, at its index", () => {
  const points: Point[] = [[0, 1], [1, 2], [2, 3]];
  assert.deepEqual(cutLine(points, { low: 0, high: 2 }), points);
});

test("a line ends where it leaves", () => {
  const points: Point[] = [[-30, 0], [-10, 0], [10, 20], [1010, 1020], [9e9, 1]];
  assert.deepEqual(cutLine(points, { low: 0, high: 100 }), [null, [0, 10], [10, 20], [100, 110], null]);
});

test("a line that only passes through is there", () => {
  assert.deepEqual(cutLine([[-100, -100], [100, 100], [200, 300]], { low: 0, high: 10 }), [[0, 0], [10, 10], null]);
});

test("gaps stay gaps, and nothing within leaves nothing", () => {
  assert.deepEqual(cutLine([[5, 5], null, [20, 1]], { low: 0, high: 10 }), [[5, 5], null, null]);
  assert.deepEqual(cutLine([[-2, 5], [-1, 1]], { low: 0, high: 10 }), [null, null]);
});

test("a line is straight on logarithmic axes", () => {
  const [, end] = cutLine([[1, 1], [10000, 1e-4]], { low: 0.1, high: 100, log: { x: true, y: true } });
  assert.ok(end && end[0] === 100 && Math.abs(end[1] - 0.01) < 1e-12);
});

test("steps stay level", () => {
  const points: Point[] = [[-1, 7], [1, 8], [50, 9]];
  assert.deepEqual(cutLine(points, { low: 0, high: 10, step: true }), [[0, 7], [1, 8], [10, 8]]);
});
