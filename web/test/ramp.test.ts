import assert from "node:assert/strict";
import { test } from "node:test";
import { ramp } from "../src/pictures/ramp.ts";
import type { Ramp } from "../src/pictures/ramp.ts";

const linear = (byte: number): number => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);

// L* of CIELAB: another measure of lightness than the one that the ramp is made by.
function lightness([red, green, blue]: Ramp[number]): number {
  const y = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

for (const dark of [false, true]) {
  test(`lightness goes one way, in even steps, ${dark ? "up on dark" : "down on light"} ground`, () => {
    const all = ramp(dark).map(lightness);
    const [first = 0, last = 0] = [all[0], all[255]];
    assert.ok(Math.abs(last - first) > 65);
    for (let i = 16; i < 256; i += 16) {
      const step = ((all[i] ?? 0) - (all[i - 16] ?? 0)) / ((last - first) / 16);
      assert.ok(step > 0.6 && step < 1.5, `step ${i}: ${step}`);
    }
  });
}
