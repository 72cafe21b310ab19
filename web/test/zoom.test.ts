// Half of an axis is half of its length, also where it is logarithmic.
import assert from "node:assert/strict";
import { test } from "node:test";
import { logTicksIn } from "../src/pictures/scale.ts";
import { endsAround, endsOf, whole, zoomedBy, zoomedTicks } from "../src/pictures/zoom.ts";
import type { Zoom } from "../src/pictures/zoom.ts";

const linear = { xAxis: { type: "value", min: 10, max: 30 } };
const log = { xAxis: { type: "log", min: 1, max: 10000, ticksIn: logTicksIn(700, 62) } };

const near = (found: number | undefined, wanted: number): void => assert.ok(Math.abs((found ?? NaN) - wanted) < 1e-9 * wanted, `${found}, not ${wanted}`);

test("a linear axis by half and back", () => {
  const inner = zoomedBy(linear, whole, 0.5, 0, "x");
  assert.deepEqual(inner, { start: 25, end: 75 });
  assert.deepEqual(endsOf(linear, inner), { low: 15, high: 25 });
  assert.deepEqual(endsAround(linear, inner), { low: 10, high: 30 });
  assert.deepEqual(zoomedBy(linear, inner, 2, 0, "x"), whole);
});

test("a logarithmic axis by half and back", () => {
  const inner = zoomedBy(log, whole, 0.5, 0, "x");
  near(endsOf(log, inner)?.low, 10);
  near(endsOf(log, inner)?.high, 1000);
  near(endsAround(log, inner)?.low, 1);
  near(endsAround(log, inner)?.high, 10000);
  const back = zoomedBy(log, inner, 2, 0, "x");
  assert.ok(Math.abs(back.start) < 1e-9 && Math.abs(back.end - 100) < 1e-9);
});

test("it moves by half of what is seen, and no further than its ends", () => {
  const moved = zoomedBy(log, zoomedBy(log, whole, 0.5, 0, "x"), 1, 0.5, "x");
  near(endsOf(log, moved)?.low, 10 ** 1.5);
  near(endsOf(log, moved)?.high, 10 ** 3.5);
  let zoom: Zoom = moved;
  for (let i = 0; i < 3; i += 1) zoom = zoomedBy(log, zoom, 1, 0.5, "x");
  near(endsOf(log, zoom)?.low, 100);
  near(endsOf(log, zoom)?.high, 10000);
});

test("a zoom keeps where it is over many steps", () => {
  let zoom = whole;
  for (let i = 0; i < 10; i += 1) zoom = zoomedBy(log, zoom, 0.5, 0, "x");
  const ends = endsOf(log, zoom);
  near(Math.sqrt((ends?.low ?? 0) * (ends?.high ?? 0)), 100);
  near((ends?.high ?? 0) / (ends?.low ?? 1), 10 ** (4 / 1024));
});

test("ticks stand in what is in view", () => {
  for (const zoom of [whole, zoomedBy(log, whole, 0.5, 0, "x"), zoomedBy(log, whole, 0.01, 0, "x")]) {
    const ends = endsOf(log, zoom) ?? { low: NaN, high: NaN };
    const { xAxis } = zoomedTicks(log, zoom, "x") as { xAxis: { axisTick: { customValues: number[] } } };
    assert.ok(xAxis.axisTick.customValues.length > 1);
    for (const tick of xAxis.axisTick.customValues) assert.ok(tick >= ends.low && tick <= ends.high, `${tick}`);
  }
  assert.deepEqual(zoomedTicks(linear, whole, "x"), {});
});
