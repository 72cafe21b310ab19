// Shapes that say how something is meant or which series it is: colour is never the only difference.
import type { Outcome, Tone } from "./document.ts";
import { el, svg } from "./dom.ts";
import type { SeriesLook } from "./look.ts";

// Paths in a square of 16.
export const shapes: Record<Tone, string> = {
  good: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.6 5.1-4.2 5.2a.9.9 0 0 1-1.35.05L4.2 9.4l1.2-1.2 1.25 1.25 3.6-4.4Z",
  bad: "M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2Zm.6 3.5L4.5 5.8 6.7 8l-2.2 2.2 1.3 1.3L8 9.3l2.2 2.2 1.3-1.3L9.3 8l2.2-2.2-1.3-1.3L8 6.7Z",
  warning: "M8 1.2 15.4 14.4H.6Zm-.9 4.6.25 4.4h1.3l.25-4.4Zm.9 5.3a.95.95 0 1 0 0 1.9.95.95 0 0 0 0-1.9Z",
  faint: "M8 .8 15.2 8 8 15.2.8 8Zm-2 5.4h1.4c0-.5.3-.8.75-.8.4 0 .65.25.65.6 0 .9-1.45.85-1.45 2.5h1.25c0-1 1.55-1.05 1.55-2.55 0-1-.8-1.75-2.05-1.75C6.8 4.2 6 5 6 6.2Zm2 3.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6Z",
  plain: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-.8 3.2h1.6v1.6H7.2Zm0 2.8h1.6v5H7.2Z",
};

export function sign(tone: Tone): SVGElement {
  // A letter cut out of so small a shape would be a blot: the question mark is drawn upon it.
  const unsure = tone === "faint";
  const path = svg("path", { d: unsure ? "M8 .3 15.7 8 8 15.7 .3 8Z" : shapes[tone], "fill-rule": "evenodd" });
  const letter = unsure ? svg("text", { x: 8, y: 11.6, class: "letter", "text-anchor": "middle" }, "?") : null;
  return svg("svg", { class: `sign ${tone}`, viewBox: "0 0 16 16", "aria-hidden": "true" }, path, letter);
}

// A verdict as shape, colour and word.
export function badge(word: string, tone: Tone): HTMLElement {
  return el("span", { class: `badge ${tone}` }, sign(tone), word);
}

export const toneOf: Record<Outcome, Tone> = { pass: "good", fail: "bad", inconclusive: "faint", none: "plain" };
export const wordOf: Record<Outcome, string> = { pass: "passed", fail: "failed", inconclusive: "cannot tell", none: "not asked" };

const dashes: Record<string, string> = { solid: "", dashed: "5 3", dotted: "1.5 2.5" };

// What a series looks like in a chart: a piece of its line and its symbol.
export function swatch(look: SeriesLook): SVGElement {
  const dash = Array.isArray(look.dash) ? look.dash.join(" ") : dashes[look.dash];
  const line = svg("line", { x1: 0, y1: 7, x2: 26, y2: 7, stroke: look.color, "stroke-width": 2, "stroke-dasharray": dash });
  return svg("svg", { class: "swatch", viewBox: "0 0 26 14", "aria-hidden": "true" }, line, symbol(look));
}

function symbol(look: SeriesLook): SVGElement {
  const fill = { fill: look.color };
  switch (look.symbol) {
    case "circle":
      return svg("circle", { cx: 13, cy: 7, r: 4, ...fill });
    case "rect":
      return svg("rect", { x: 9, y: 3, width: 8, height: 8, ...fill });
    case "roundRect":
      return svg("rect", { x: 9, y: 3, width: 8, height: 8, rx: 2.5, ...fill });
    case "triangle":
      return svg("path", { d: "M13 2 18 11.5H8Z", ...fill });
    case "diamond":
      return svg("path", { d: "M13 1.5 18 7 13 12.5 8 7Z", ...fill });
    case "pin":
      return svg("path", { d: "M13 13 9.3 6.5a4 4 0 1 1 7.4 0Z", ...fill });
    case "arrow":
      return svg("path", { d: "M13 1.5 17.5 12 13 9.5 8.5 12Z", ...fill });
  }
}
