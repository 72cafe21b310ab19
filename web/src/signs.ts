// Shapes that say how something is meant or which series it is: colour is never the only difference.
import type { Check, Outcome, Tone } from "./document.ts";
import { el, svg } from "./dom.ts";
import type { SeriesLook } from "./look.ts";

// Paths in a square of 16.
export const shapes: Record<Tone, string> = {
  good: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.6 5.1-4.2 5.2a.9.9 0 0 1-1.35.05L4.2 9.4l1.2-1.2 1.25 1.25 3.6-4.4Z",
  bad: "M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2Zm.6 3.5L4.5 5.8 6.7 8l-2.2 2.2 1.3 1.3L8 9.3l2.2 2.2 1.3-1.3L9.3 8l2.2-2.2-1.3-1.3L8 6.7Z",
  warning: "M8 1.2 15.4 14.4H.6Zm-.9 4.6.25 4.4h1.3l.25-4.4Zm.9 5.3a.95.95 0 1 0 0 1.9.95.95 0 0 0 0-1.9Z",
  faint: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.8a5.2 5.2 0 0 1 0 10.4Z", // half a disc: neither this nor that
  plain: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-.8 3.2h1.6v1.6H7.2Zm0 2.8h1.6v5H7.2Z",
};

export function sign(tone: Tone): SVGElement {
  return svg("svg", { class: `sign ${tone}`, viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: shapes[tone], "fill-rule": "evenodd" }));
}

// A verdict as shape, colour and word.
export function badge(word: string, tone: Tone): HTMLElement {
  return el("span", { class: `badge ${tone}` }, sign(tone), word);
}

export const toneOf: Record<Outcome, Tone> = { pass: "good", fail: "bad", inconclusive: "faint", none: "plain" };
export const wordOf: Record<Outcome, string> = { pass: "passed", fail: "failed", inconclusive: "inconclusive", none: "not asked" };

// A caveat decides nothing: one that does not hold is no failure.
export const toneOfCheck = (check: Check): Tone => (check.caveat && check.outcome === "fail" ? "warning" : toneOf[check.outcome]);
const wordOfCaveat: Record<Outcome, string> = { ...wordOf, pass: "yes", fail: "no" };
export const wordOfCheck = (check: Check): string => (check.caveat ? wordOfCaveat : wordOf)[check.outcome];

const dashes: Record<string, string> = { solid: "", dashed: "5 3", dotted: "1.5 2.5" };

// What a series looks like in a chart: a piece of its line and its symbol.
export function swatch(look: SeriesLook): SVGElement {
  const dash = Array.isArray(look.dash) ? look.dash.join(" ") : dashes[look.dash];
  const line = svg("line", { x1: 0, y1: 7, x2: 26, y2: 7, stroke: look.color, "stroke-width": 2, "stroke-dasharray": dash });
  return svg("svg", { class: "swatch", viewBox: "0 0 26 14", "aria-hidden": "true" }, line, svg("path", { d: symbols[look.symbol], fill: look.color }));
}

// In a box of 26 by 14, around its middle.
const symbols: Record<SeriesLook["symbol"], string> = {
  circle: "M9 7a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
  rect: "M9 3h8v8H9Z",
  roundRect: "M11.5 3h3a2.5 2.5 0 0 1 2.5 2.5v3a2.5 2.5 0 0 1-2.5 2.5h-3a2.5 2.5 0 0 1-2.5-2.5v-3a2.5 2.5 0 0 1 2.5-2.5Z",
  triangle: "M13 2 18 11.5H8Z",
  diamond: "M13 1.5 18 7 13 12.5 8 7Z",
  pin: "M13 13 9.3 6.5a4 4 0 1 1 7.4 0Z",
  arrow: "M13 1.5 17.5 12 13 9.5 8.5 12Z",
};

// The same as one filled path, for legends in files.
export function swatchPath(look: SeriesLook): string {
  const dash = Array.isArray(look.dash) ? look.dash : (dashes[look.dash] ?? "").split(" ").filter((each) => each !== "").map(Number);
  const pieces: string[] = [];
  for (let [x, index] = [0, 0]; x < 26; index += 1) {
    const length = Math.min(26 - x, dash[index % dash.length] ?? 26);
    if (index % 2 === 0 && length > 0) pieces.push(`M${x} 6h${length}v2h-${length}Z`);
    x += length;
  }
  return pieces.join("") + symbols[look.symbol];
}
