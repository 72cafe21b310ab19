// Axes of quantities: one unit, rounded ends, and logarithmic ticks. Numbers in a chart are values in the axis' unit.
import type { Option } from "../echarts.ts";
import { unitForAll, whole } from "../format.ts";
import type { Quantity, Unit } from "../format.ts";
import type { Look } from "../look.ts";
import { power } from "./log_scale.ts";
import { axis } from "../picture.ts";
import type { Control } from "../picture.ts";

export interface Scale {
  unit: Unit;
  log: boolean;
  low: number; // in `unit`
  high: number;
}

export type Values = Iterable<number | null | undefined>;

function finite(values: Values): number[] {
  return [...values].filter((value): value is number => typeof value === "number" && Number.isFinite(value));
}

// So wide that most of it would lie in one corner of a linear axis.
export function isWide(values: Values): boolean {
  const [low, high] = ends(finite(values));
  return low > 0 && high / low > 20;
}

// Not Math.min(...): a hundred thousand arguments are too many.
export function ends(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// A logarithmic axis is given only where all values are positive.
export function scaleOf(quantity: Quantity, values: Values, options: { log?: boolean; zero?: boolean } = {}): Scale {
  const all = finite(values);
  const unit = unitForAll(quantity, all);
  const [low, high] = ends(all.map((value) => value / unit.factor));
  if (all.length === 0) return { unit, log: false, low: 0, high: 1 };
  if ((options.log ?? false) && low > 0) return { unit, log: true, ...logDomain(low, high) };
  const ofAll = domain(options.zero === true ? Math.min(0, low) : low, options.zero === true ? Math.max(0, high) : high);
  // No time and no size is negative: neither is the axis.
  return { unit, log: false, low: low >= 0 ? Math.max(0, ofAll.low) : ofAll.low, high: ofAll.high };
}

// 1, 2 or 5 times a power of ten: the least that is not below `rough`.
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const times = [1, 2, 5, 10].find((each) => each * power >= rough * (1 - 1e-9)) ?? 10;
  return times * power;
}

// The ends that hold low … high with a little air, on multiples of a round step.
export function domain(low: number, high: number): { low: number; high: number } {
  if (low === high) {
    const half = low === 0 ? 1 : Math.abs(low) * 0.05;
    return domain(low - half, high + half);
  }
  const air = (high - low) * 0.02;
  const step = niceStep((high - low) / 10);
  const round = (value: number): number => Number(value.toPrecision(12));
  return {
    low: low === 0 ? 0 : round(Math.floor((low - air) / step) * step),
    high: high === 0 ? 0 : round(Math.ceil((high + air) / step) * step),
  };
}

function logDomain(low: number, high: number): { low: number; high: number } {
  return { low: Number((low / 1.06).toPrecision(2)) * 0.99, high: Number((high * 1.06).toPrecision(2)) * 1.01 };
}

// Multiples of the powers of ten: as many as there is room for, but two.
export function logTicks(low: number, high: number, most: number): number[] {
  const dense = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const sets = [dense, [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]].map((times) => multiples(low, high, times));
  const fitting = sets.find((ticks) => ticks.length <= most && ticks.length > 1);
  return fitting ?? sets.reverse().find((ticks) => ticks.length > 1) ?? [];
}

function multiples(low: number, high: number, times: number[]): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const each of times) {
      const tick = Number((each * 10 ** power).toPrecision(6));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

// "0.5", "12,500", "3e-7": no zeros that say nothing.
export function tickText(tick: number): string {
  const rounded = Number(tick.toPrecision(4));
  const size = Math.abs(rounded);
  const minus = rounded < 0 ? "−" : "";
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return minus + size.toExponential().replace("e+", "e").replace("e-", "e−");
  return minus + (size < 1e4 ? String(size) : whole(size));
}

// Multiples of a round step in low … high, about `most`.
export function linearTicks(low: number, high: number, most: number): number[] {
  const step = niceStep((high - low) / most);
  const ticks: number[] = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index += 1) ticks.push(Number((index * step).toPrecision(12)));
  return ticks;
}

// Of a logarithmic axis, or the part of it that is in view, where each has `each` of `room` pixels.
export function logTicksIn(room: number, each: number): (low: number, high: number) => number[] {
  const most = Math.max(3, Math.floor(room / each));
  return (low, high) => {
    const ticks = logTicks(low, high, most);
    return ticks.length > 2 || high / low > 4 ? ticks : linearTicks(low, high, most);
  };
}

// ECharts adds the ends of an axis to its own ticks: their labels are shown where they are among the others. Its step is
// 1, 2, 3, 5 or 10 times a power of ten.
function endLabels(scale: Scale, most: number): Option {
  if (scale.log) return {};
  const rough = (scale.high - scale.low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const part = rough / power;
  const step = power * (part < 1.5 ? 1 : part < 2.5 ? 2 : part < 4 ? 3 : part < 7 ? 5 : 10);
  const regular = (end: number): boolean => Math.abs(end / step - Math.round(end / step)) < 1e-6;
  return { showMinLabel: regular(scale.low), showMaxLabel: regular(scale.high) };
}

// `room`: pixels along the axis. `still`: it cannot be zoomed, so that its ticks can be chosen here.
export function valueAxis(look: Look, title: string, scale: Scale, room: number, more: Option = {}, still = false): Option {
  const unit = scale.unit.name === "/s" ? "items/s" : scale.unit.name;
  const most = Math.max(2, Math.min(10, Math.floor(room / (still ? 48 : 80))));
  const ticksIn = logTicksIn(room, still ? 32 : 62);
  const ticks = scale.log ? { customValues: ticksIn(scale.low, scale.high) } : still ? { customValues: linearTicks(scale.low, scale.high, most) } : {};
  return axis(look, unit === "" ? title : `${title}, ${unit}`, {
    type: scale.log ? "log" : "value",
    min: scale.low,
    max: scale.high,
    splitNumber: most,
    ...(scale.log ? { ticksIn } : {}),
    axisLine: { onZero: false, lineStyle: { color: look.line } },
    axisTick: { show: true, lineStyle: { color: look.line }, ...ticks },
    axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, formatter: scale.log && scale.high / scale.low > 1e4 ? power : tickText, ...ticks, ...(still ? {} : endLabels(scale, most)) },
    ...more,
  });
}

export function scaleControl(change: (log: boolean) => void): Control {
  return {
    label: "Axis",
    choices: [
      { value: "log", label: "Logarithmic" },
      { value: "linear", label: "Linear" },
    ],
    value: "log",
    change: (value) => change(value === "log"),
  };
}
