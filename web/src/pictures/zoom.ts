// What of an axis is in view. ECharts counts a zoom in per cent of an axis' values, on a logarithmic one too; readers zoom
// what they see, so that half of an axis is half of its length.
import type { Option } from "../echarts.ts";

export interface Zoom {
  start: number; // per cent of the axis' values
  end: number;
}

export interface Ends {
  low: number;
  high: number;
}

export const whole: Zoom = { start: 0, end: 100 };

export const isWhole = (zoom: Zoom): boolean => zoom.start <= 0 && zoom.end >= 100;

interface Axis extends Ends {
  log: boolean;
}

function axisOf(option: Option, name: "x" | "y"): Axis | null {
  const axis = (option[`${name}Axis`] ?? {}) as { type?: unknown; min?: unknown; max?: unknown };
  if (typeof axis.min !== "number" || typeof axis.max !== "number" || (axis.type !== "value" && axis.type !== "log")) return null;
  return { low: axis.min, high: axis.max, log: axis.type === "log" };
}

// Of an axis whose ends are given; null: they are not.
export function endsOf(option: Option, zoom: Zoom = whole, name: "x" | "y" = "x"): Ends | null {
  const axis = axisOf(option, name);
  if (axis === null) return null;
  const at = (percent: number): number => axis.low + ((axis.high - axis.low) * percent) / 100;
  return { low: zoom.start <= 0 ? axis.low : at(zoom.start), high: zoom.end >= 100 ? axis.high : at(zoom.end) };
}

// What is in view, and half as much on both sides of it.
export function endsAround(option: Option, zoom: Zoom): Ends | null {
  const [axis, ends] = [axisOf(option, "x"), endsOf(option, zoom)];
  if (axis === null || ends === null || isWhole(zoom)) return ends;
  const [to, from] = axis.log ? [Math.log, Math.exp] : [Number, Number];
  const [low, high] = [to(ends.low), to(ends.high)];
  return { low: from(low - (high - low) / 2), high: from(high + (high - low) / 2) };
}

// The zoom `factor` times as wide, moved by `shift` of half its width, within the axis; both as they are on paper.
export function zoomedBy(option: Option, zoom: Zoom, factor: number, shift: number, name: "x" | "y"): Zoom {
  const axis = axisOf(option, name);
  const turn = (percent: number, convert: (share: number, ratio: number) => number): number => (axis?.log === true ? 100 * convert(percent / 100, axis.high / axis.low) : percent);
  const [start, end] = [turn(zoom.start, shareOfLength), turn(zoom.end, shareOfLength)];
  const half = Math.min(50, ((end - start) / 2) * factor);
  const first = Math.max(0, Math.min(100 - 2 * half, (end + start) / 2 + shift * half - half));
  return { start: turn(first, shareOfValues), end: turn(first + 2 * half, shareOfValues) };
}

// Of a logarithmic axis from 1 to `ratio`.
const shareOfLength = (share: number, ratio: number): number => Math.log1p(share * (ratio - 1)) / Math.log(ratio);
const shareOfValues = (share: number, ratio: number): number => Math.expm1(share * Math.log(ratio)) / (ratio - 1);

type TicksIn = (low: number, high: number) => number[];

// Ticks for what is in view, of axes that choose their own ("ticksIn").
export function zoomedTicks(option: Option, zoom: Zoom, name: "x" | "y"): Option {
  const [axis, ends] = [option[`${name}Axis`] as { ticksIn?: TicksIn } | undefined, endsOf(option, zoom, name)];
  if (axis?.ticksIn === undefined || ends === null) return {};
  const customValues = axis.ticksIn(ends.low, ends.high);
  return { [`${name}Axis`]: { axisTick: { customValues }, axisLabel: { customValues } } };
}
