// Series can be distinguished by their colours with common colour-blindnesses too, and stand out from the panel.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { darkSeries, lightSeries, seriesLook } from "../src/look.ts";
import { swatchPath } from "../src/signs.ts";

type Triple = [number, number, number];
type Matrix = [Triple, Triple, Triple];

// Machado, Oliveira & Fernandes, "A physiologically-based model for simulation of color vision deficiency", IEEE Trans.
// Vis. Comput. Graph. 15 (2009) 1291–1298, severity 1.0; applied to linear RGB.
const visions: Record<string, Matrix> = {
  common: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const times = (matrix: Matrix, v: Triple): Triple => matrix.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Triple;

// IEC 61966-2-1.
function linear(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

// OKLab (Björn Ottosson, 2020), in which distances of equal size look about equally large.
function oklab(rgb: Triple): Triple {
  const toCones: Matrix = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]];
  const toLab: Matrix = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]];
  return times(toLab, times(toCones, rgb).map(Math.cbrt) as Triple);
}

function distance(a: string, b: string, vision: Matrix): number {
  const seen = (hex: string): Triple => oklab(times(vision, linear(hex)).map((c) => Math.min(1, Math.max(0, c))) as Triple);
  const [p, q] = [seen(a), seen(b)];
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

// WCAG 2.2, relative luminance and contrast ratio.
function contrast(a: string, b: string): number {
  const luminance = (hex: string): number => linear(hex).reduce((sum, c, index) => sum + c * ([0.2126, 0.7152, 0.0722][index] as number), 0);
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

// The panel's colour as the style sheet has it: the first is the light one.
function panels(): [string, string] {
  const sheet = readFileSync(join(process.cwd(), "src", "report.css"), "utf8");
  const found = [...sheet.matchAll(/--panel: (#[0-9a-f]{6});/g)].map((match) => match[1] as string);
  return [found[0] as string, found[1] as string];
}

// What the palettes reach; CSS Color 4 takes 0.02 as just noticeable.
const smallest = { light: 0.113, dark: 0.126 };

for (const [theme, series, least] of [["light", lightSeries, smallest.light], ["dark", darkSeries, smallest.dark]] as const) {
  for (const [vision, matrix] of Object.entries(visions)) {
    test(`${theme} colours are apart with ${vision} vision`, () => {
      series.forEach((a, i) => {
        for (const b of series.slice(i + 1)) {
          const apart = distance(a, b, matrix);
          assert.ok(apart >= least, `${a} and ${b} are ${apart.toFixed(4)} apart`);
        }
      });
    });
  }
  test(`${theme} colours are 3:1 against the panel`, () => {
    const panel = panels()[theme === "light" ? 0 : 1];
    for (const color of series) assert.ok(contrast(color, panel) >= 3, `${color} on ${panel}: ${contrast(color, panel).toFixed(2)}`);
  });
}

test("200 series differ in something", () => {
  for (const colors of [lightSeries, darkSeries]) {
    const looks = new Set(Array.from({ length: 200 }, (_, index) => JSON.stringify(seriesLook(colors, index))));
    assert.equal(looks.size, 200);
  }
});

test("a legend in a file has the symbol and the dashes of its series", () => {
  const square = swatchPath({ color: "#000", symbol: "rect", dash: "solid" });
  assert.equal(square, "M0 6h26v2h-26ZM9 3h8v8H9Z");
  const dotted = swatchPath({ color: "#000", symbol: "diamond", dash: [0, 40] });
  assert.equal(dotted, "M13 1.5 18 7 13 12.5 8 7Z");
  assert.equal(swatchPath({ color: "#000", symbol: "circle", dash: "dashed" }).split("M").length, 1 + 4 + 1);
});
