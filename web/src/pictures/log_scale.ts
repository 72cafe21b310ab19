// A logarithmic axis for numbers that may be 0: 0 has a place of its own, a decade below the smallest, and its mark says 0.
import type { Option } from "../echarts.ts";
import type { Look } from "../look.ts";

export interface LogScale {
  low: number;
  high: number;
  place(value: number): number; // where it is drawn
  axis(look: Look): Option;
}

export function logScale(values: Iterable<number | null>): LogScale {
  let [low, high, zero] = [Infinity, 0, false];
  for (const value of values) {
    if (value === 0) zero = true;
    if (value === null || !(value > 0) || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (high === 0) [low, high] = [1, 1];
  const decade = (exponent: number): number => Number(`1e${exponent}`);
  const bottom = Math.floor(Math.log10(low) + 1e-9);
  const top = Math.max(bottom + 1, Math.ceil(Math.log10(high) - 1e-9));
  const [first, last] = [decade(zero ? bottom - 1 : bottom), decade(top)];
  return {
    low: first,
    high: last,
    place: (value) => (value > first ? value : first),
    axis: (look) => ({
      type: "log",
      min: first,
      max: last,
      axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, formatter: (value: number) => (zero && value <= first * 1.5 ? "0" : power(value)) },
    }),
  };
}

// 1e-5 as 10⁻⁵, 2e-5 as 2·10⁻⁵; from 0.01 to 1000 as it is.
export function power(value: number): string {
  if (value >= 0.0099 && value < 1001) return String(Number(value.toPrecision(3)));
  const [mantissa, exponent = ""] = value.toExponential(1).split("e");
  const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const above = String(Number(exponent)).replace(/./g, (character) => (character === "-" ? "⁻" : (raised[Number(character)] ?? "")));
  return `${mantissa === "1.0" ? "" : `${Number(mantissa)}·`}10${above}`;
}
