// Axes and thinning.
import assert from "node:assert/strict";
import { test } from "node:test";
import { domain, isWide, linearTicks, logTicks, niceStep, scaleOf, tickText } from "../src/pictures/scale.ts";
import { byRanks, byStretches, jitter, thinnedText } from "../src/pictures/thin.ts";

test("steps are 1, 2 or 5 times a power of ten", () => {
  assert.deepEqual([0.03, 0.011, 1, 1.1, 7].map(niceStep).map((step) => Number(step.toPrecision(3))), [0.05, 0.02, 1, 2, 10]);
});

test("domains hold their values with rounded ends", () => {
  assert.deepEqual(domain(0, 95), { low: 0, high: 100 });
  assert.deepEqual(domain(36.2, 48.9), { low: 34, high: 50 });
  const { low, high } = domain(5, 5);
  assert.ok(low < 5 && high > 5, "one value alone has an axis too");
  assert.deepEqual(domain(0, 0), { low: -1.2, high: 1.2 });
});

test("an axis of times is not negative, has one unit, and no values give one as well", () => {
  const scale = scaleOf("s", [0.01, 0.9, null, undefined, NaN]);
  assert.equal(scale.low, 0);
  assert.equal(scale.unit.name, "ms");
  assert.deepEqual(scaleOf("s", [null]).low, 0);
  assert.equal(scaleOf("s", [0, 1], { log: true }).log, false, "0 has no place on a logarithmic axis");
});

test("wide is more than twentyfold", () => {
  assert.equal(isWide([1, 20]), false);
  assert.equal(isWide([1, 21]), true);
  assert.equal(isWide([0, 1000]), false);
  assert.equal(isWide([]), false);
});

test("logarithmic ticks are as many as fit, and at least two", () => {
  assert.deepEqual(logTicks(0.9, 1100, 15), [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000]);
  assert.deepEqual(logTicks(0.9, 1100, 5), [1, 10, 100, 1000]);
  assert.deepEqual(logTicks(4, 31, 3), [5, 10, 20]);
  assert.ok(logTicks(4.1, 4.9, 5).length === 0 || logTicks(4.1, 4.9, 5).length > 1);
});

test("linear ticks do not go past the ends", () => {
  assert.deepEqual(linearTicks(-5, 35, 4), [0, 10, 20, 30]);
  assert.deepEqual(linearTicks(0, 0.3, 3), [0, 0.1, 0.2, 0.3]);
});

test("ticks have no zeros that say nothing", () => {
  assert.deepEqual([0, 0.5, -2, 12500, 3e-7, 0.30000000000000004].map(tickText), ["0", "0.5", "−2", "12,500", "3e−7", "0.3"]);
});

test("thinning by stretches keeps the order and the extremes", () => {
  const values = Array.from({ length: 10_000 }, (_, index) => Math.sin(index));
  values[1234] = 50;
  values[8765] = -50;
  const kept = byStretches(values.length, (index) => values[index] as number, 400);
  assert.ok(kept.length <= 400 && kept.length > 390);
  assert.ok(kept.includes(1234) && kept.includes(8765));
  assert.ok(kept.every((index, at) => at === 0 || index > (kept[at - 1] as number)));
  assert.deepEqual(byStretches(3, () => 0, 400), [0, 1, 2]);
  assert.deepEqual(byStretches(0, () => 0, 400), []);
});

test("thinning by ranks keeps the smallest, the largest and the shape", () => {
  const sorted = Array.from({ length: 1001 }, (_, index) => index);
  assert.deepEqual(byRanks(sorted, 5), [0, 250, 500, 750, 1000]);
  assert.deepEqual(byRanks([1, 2], 5), [1, 2]);
});

test("jitter is the same every time, within its lane and spread", () => {
  const first = Array.from({ length: 1000 }, (_, index) => jitter(index));
  assert.ok(first.every((at) => at >= -0.5 && at < 0.5));
  assert.deepEqual(first, Array.from({ length: 1000 }, (_, index) => jitter(index)));
  for (let bin = 0; bin < 10; bin += 1) {
    const inBin = first.filter((at) => Math.floor((at + 0.5) * 10) === bin).length;
    assert.ok(inBin > 95 && inBin < 105, `bin ${bin} has ${inBin}`);
  }
});

test("what was thinned is said, by the report and by the drawing", () => {
  assert.equal(thinnedText(100, 100, 100, "x"), "");
  assert.match(thinnedText(50, 100, 100, "the extremes"), /^50 iterations of 100 in the report are drawn: the extremes\.$/);
  assert.match(thinnedText(100, 100, 20_000, "x"), /holds 100 iterations of 20,000 that were timed/);
});
