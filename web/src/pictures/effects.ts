// Differences of logarithms as changes of the baseline's value, turned so that positive is worse.
import type { Direction, Interval, PrimaryComparison, Tone } from "../document.ts";
import type { Option } from "../echarts.ts";
import { digits, MISSING, signed } from "../format.ts";
import { tickText } from "./scale.ts";

type Compared = Pick<PrimaryComparison, "lower_is_better" | "metric">;

// In per cent: 0.0953 of a latency is 10 % more; of a throughput, 9.1 % less.
export function worseBy(compared: Compared, difference: number): number {
  return 100 * (compared.lower_is_better ? Math.expm1(difference) : -Math.expm1(-difference));
}

export function isTime(metric: string): boolean {
  return metric.startsWith("latency_") || metric.endsWith("_time");
}

// "3.05 % faster", "1.2 % more throughput".
export function changeText(compared: Compared, difference: number | null): string {
  if (difference === null) return MISSING;
  const worse = worseBy(compared, difference);
  if (worse === 0) return "no difference";
  const word = isTime(compared.metric) ? (worse > 0 ? "slower" : "faster") : worse > 0 === compared.lower_is_better ? "more" : "less";
  return `${digits(Math.abs(worse))} % ${word}`;
}

// "−3.05 % [−3.6, −2.5]": the change of the metric itself.
export function changeShort(compared: Compared, estimate: number | null, interval: Interval | null): string {
  if (estimate === null) return MISSING;
  const change = (difference: number): number => (compared.lower_is_better ? 1 : -1) * worseBy(compared, difference);
  if (interval === null) return `${signed(change(estimate))} % (no interval)`;
  const [a, b] = [change(interval.low), change(interval.high)];
  return `${signed(change(estimate))} % [${signed(Math.min(a, b))}, ${signed(Math.max(a, b))}]`;
}

export const directionTone: Record<Direction, Tone> = { faster: "good", slower: "warning", equivalent: "plain", unresolved: "faint" };

// A throughput or a memory is neither fast nor slow.
export function directionWord(direction: Direction, metric: string): string {
  if (direction === "equivalent") return "equivalent";
  if (direction === "unresolved") return "undecided";
  return isTime(metric) ? direction : direction === "faster" ? "better" : "worse";
}

// Of an axis on which worse is positive. 105 % more throughput stands where better does, at 105 and not at -105.
export function isTurned(compared: Compared[]): boolean {
  return compared.some((each) => !each.lower_is_better);
}

export function effectAxis(compared: Compared[], valued: Option): Option {
  if (!isTurned(compared)) return valued;
  return { ...valued, axisLabel: { ...(valued["axisLabel"] as Option), formatter: (tick: number) => tickText(Math.abs(tick)) } };
}

// The margin on the scale of the axis.
export function marginEnds(compared: Compared, margin: number): [number, number] {
  return [worseBy(compared, -Math.log1p(margin)), worseBy(compared, Math.log1p(margin))];
}
