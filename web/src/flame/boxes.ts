// Frames as boxes: colours, what is written into them, and what the marks mean.
import { shortened, visible } from "../dom.ts";
import { intervalDigits, percent, signed, unitFor } from "../format.ts";
import type { Look } from "../look.ts";
import { smallLevel } from "./frames.ts";
import type { Frame, Mode, Placed, View } from "./frames.ts";
import { mixed } from "./scene.ts";
import type { Box } from "./scene.ts";

export const rowHeight = 26;
const perCharacter = 6.8; // pixels, of the widest fonts at 12 px
const gap = 1;

export interface Reading {
  mode: Mode;
  time(seconds: number): string; // "1.23 ms", or a share where times cannot be read
}

export interface Painted extends Reading {
  strongest: number; // seconds: the difference that has most colour
}

// "+2.10 ms [+1.80, +2.40]"
export function differenceText(seconds: number, interval: Frame["interval"]): string {
  const unit = unitFor("s", seconds);
  const text = (value: number, significant: number): string => signed(value / unit.factor, significant);
  if (interval === null) return `${text(seconds, 3)} ${unit.name}`;
  const significant = intervalDigits(interval.low, interval.high, unit);
  return `${text(seconds, significant)} ${unit.name} [${text(interval.low, significant)}, ${text(interval.high, significant)}]`;
}

export function valueText(frame: Pick<Frame, "values" | "interval">, { mode, time }: Reading): string {
  return mode === "difference" ? differenceText(frame.values.difference, frame.interval) : time(frame.values[mode]);
}

// With its share of the whole, where the value is not one already.
export function valueAndShare(frame: Pick<Frame, "values" | "interval">, root: Frame, reading: Reading): string {
  const whole = root.values[reading.mode];
  const [value, share] = [valueText(frame, reading), percent(whole === 0 ? null : frame.values[reading.mode] / whole)];
  return whole === 0 || value === share ? value : `${value}, ${share}${reading.mode === "difference" ? " of the difference" : ""}`;
}

export function boxOf(placed: Placed, view: View, painted: Painted, look: Look, width: number, top: number): Box {
  const { frame, depth } = placed;
  const full = placed.width * width;
  const drawn = Math.max(0.3, full - (full > 3 ? gap : 0));
  const box: Box = {
    x: placed.left * width,
    y: top + depth * rowHeight,
    width: drawn,
    height: rowHeight - gap,
    fill: painted.mode === "difference" ? differenceFill(frame, painted, look) : plainFill(frame, look),
    hatched: painted.mode === "difference" && !frame.separable,
    text: textIn(frame, painted, drawn),
    textColor: look.text,
  };
  if (painted.mode === "difference" && frame.values.difference !== 0) {
    const part = Math.min(1, Math.abs(frame.values.difference) / (frame.widths.difference || 1));
    const within = placed.above ? Math.min(drawn, (Math.abs(frame.values.difference) / (view.way[view.way.length - 1]?.widths.difference || 1)) * width) : part * drawn;
    box.strip = { at: frame.values.difference > 0 ? "bottom" : "top", width: Math.max(1, within), color: frame.values.difference > 0 ? look.bad : look.accent };
  }
  return box;
}

function plainFill(frame: Frame, look: Look): string {
  if (frame.color === -2) return mixed(look.panel, look.muted, 0.25);
  if (frame.color === -1 || frame.level === smallLevel) return mixed(look.panel, look.muted, 0.15);
  return mixed(look.panel, look.series(frame.color).color, frame.level === "kind" ? 0.45 : frame.level === "kernel" ? 0.2 : 0.32);
}

// Nothing is not white: a frame of no difference is still a frame.
function differenceFill(frame: Frame, painted: Painted, look: Look): string {
  const part = Math.min(1, Math.abs(frame.values.difference) / (painted.strongest || 1));
  const ground = mixed(look.panel, look.muted, 0.14);
  return mixed(ground, frame.values.difference > 0 ? look.bad : look.accent, 0.5 * Math.sqrt(part) * (frame.values.difference === 0 ? 0 : 1));
}

// As much as there is room for: name and figures, name and value, the name, its ends.
function textIn(frame: Frame, painted: Painted, width: number): string {
  const room = Math.floor((width - 10) / perCharacter);
  if (room < 3) return "";
  const name = visible(frame.name(painted.mode).slice(0, 400));
  const value = valueText(frame, painted);
  const short = painted.mode === "difference" ? differenceText(frame.values.difference, null) : value;
  for (const text of [value, short]) {
    const left = room - text.length - 2;
    if (left >= name.length || left >= 14) return `${shortened(name, left)}  ${text}`;
  }
  return name.length <= room || room >= 5 ? shortened(name, room) : "";
}

// What the marks mean, under a graph of a difference.
export function legendHeight(painted: Painted, width: number): number {
  const places = legendPlaces(painted, width);
  return places.length === 0 ? 0 : 24 * ((places[places.length - 1]?.row ?? 0) + 1) + 8;
}

export function legendBoxes(painted: Painted, look: Look, width: number, top: number): Box[] {
  const ground = mixed(look.panel, look.muted, 0.14);
  const marks: Partial<Box>[] = [
    { fill: mixed(ground, look.bad, 0.5), strip: { at: "bottom", width: 24, color: look.bad } },
    { fill: mixed(ground, look.accent, 0.5), strip: { at: "top", width: 24, color: look.accent } },
    { hatched: true },
    { strip: { at: "bottom", width: 14, color: look.muted } },
  ];
  return legendPlaces(painted, width).flatMap(({ text, x, row }, index): Box[] => {
    const place = { x, y: top + 8 + row * 24, height: 18 };
    return [
      { ...place, width: 30, fill: ground, ...marks[index] },
      { ...place, x: x + 30, width: 0, fill: "none", text, textColor: look.muted },
    ];
  });
}

function legendPlaces(painted: Painted, width: number): { text: string; x: number; row: number }[] {
  if (painted.mode !== "difference") return [];
  const most = differenceText(painted.strongest, null).replace(/^[+−]/, "");
  let [x, row] = [0, 0];
  return [`slower (most colour: ${most})`, "faster", "not separable from noise", "strip: as long as the difference"].map((text) => {
    const needed = 40 + perCharacter * text.length + 14;
    if (x > 0 && x + needed > width) [x, row] = [0, row + 1];
    const place = { text, x, row };
    x += needed;
    return place;
  });
}
