// Fewer points to draw, with the extremes kept.
import { count } from "../format.ts";

// Indices, ascending: the smallest and the largest of each stretch of a sequence.
export function byStretches(length: number, value: (index: number) => number, most: number): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  const stretches = Math.max(1, Math.floor(most / 2));
  const kept: number[] = [];
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const [from, to] = [Math.floor((stretch * length) / stretches), Math.floor(((stretch + 1) * length) / stretches)];
    let [low, high] = [from, from];
    for (let index = from; index < to; index += 1) {
      if (value(index) < value(low)) low = index;
      if (value(index) > value(high)) high = index;
    }
    kept.push(Math.min(low, high));
    if (low !== high) kept.push(Math.max(low, high));
  }
  return kept;
}

// Of sorted values those at even ranks, the smallest and the largest among them: the shape of the distribution stays.
export function byRanks(sorted: ArrayLike<number>, most: number): number[] {
  if (sorted.length <= most) return Array.from(sorted);
  if (most < 2) return Array.from(sorted).slice(-most);
  return Array.from({ length: most }, (_, index) => sorted[Math.round((index * (sorted.length - 1)) / (most - 1))] as number);
}

// Where a point stands across its lane: in [-0.5, 0.5], the same on every drawing, without the stripes of a modulus
// (the additive recurrence of the golden ratio).
export function jitter(index: number): number {
  return ((index + 1) * 0.6180339887498949) % 1 - 0.5;
}

export function thinnedText(drawn: number, recorded: number, timed: number, how: string): string {
  const thinned = drawn < recorded ? `${count(drawn, "iteration", "iterations")} of ${count(recorded, "", "").trim()} in the report are drawn: ${how}.` : "";
  const short = recorded < timed ? `The report holds ${count(recorded, "iteration", "iterations")} of ${count(timed, "", "").trim()} that were timed; it keeps the extremes. All figures are of all iterations.` : "";
  return [thinned, short].filter((text) => text !== "").join(" ");
}
