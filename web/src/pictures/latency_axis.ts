// Latencies have long tails: how far the axis goes is the reader's choice, and what lies beyond it is said.
import { format } from "../format.ts";
import type { Control } from "../picture.ts";
import type { LatencyLane } from "./latency_lanes.ts";
import { ends, isWide, scaleOf } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { quantile } from "./trials.ts";

export type Reach = "p99" | "all" | "log";

function smallest(lane: LatencyLane): number {
  return lane.quantiles_s[0] ?? 0;
}

function largest(lane: LatencyLane): number {
  return lane.quantiles_s[lane.quantiles_s.length - 1] ?? 0;
}

function toP99(lanes: LatencyLane[]): [number, number] {
  return ends(lanes.flatMap((lane) => [smallest(lane), quantile(lane.levels, lane.quantiles_s, 0.99) ?? largest(lane)]));
}

// Where the slowest of a hundred iterations would take most of the axis, it ends before them.
export function usualReach(lanes: LatencyLane[]): Reach {
  if (isWide(lanes.flatMap((lane) => [0.5, 0.99].map((level) => quantile(lane.levels, lane.quantiles_s, level))))) return "log";
  const [low, high] = toP99(lanes);
  const [first, last] = ends(lanes.flatMap((lane) => [smallest(lane), largest(lane)]));
  return last - first > 2 * (high - low) ? "p99" : "all";
}

export function reachControl(value: Reach, change: (reach: Reach) => void): Control {
  return {
    label: "Axis",
    choices: [
      { value: "p99", label: "Up to p99" },
      { value: "all", label: "All, linear" },
      { value: "log", label: "All, logarithmic" },
    ],
    value,
    change: (chosen) => change(chosen as Reach),
  };
}

export function latencyScale(lanes: LatencyLane[], reach: Reach): Scale {
  if (reach === "p99") {
    const [low, high] = toP99(lanes);
    return scaleOf("s", [low, high + (high - low) * 0.05]);
  }
  return scaleOf("s", lanes.flatMap((lane) => [smallest(lane), largest(lane)]), { log: reach === "log" });
}

export function beyondText(lanes: LatencyLane[], reach: Reach): string {
  if (reach !== "p99" || lanes.length === 0) return "";
  const end = latencyScale(lanes, reach);
  const worst = lanes.reduce((a, b) => (largest(b) > largest(a) ? b : a));
  if (largest(worst) <= end.high * end.unit.factor) return "";
  return `The axis ends just past the fastest 99 % of the iterations of each; the slowest took ${format("s", largest(worst))} (${worst.name}).`;
}
