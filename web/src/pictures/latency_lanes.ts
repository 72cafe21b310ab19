// What has a distribution of latencies: each subject with its processes pooled, or each process of one subject.
import type { Trial } from "../document.ts";
import { disturbances, quantile, samplesOf, trialsOf } from "./trials.ts";
import type { Measured } from "./trials.ts";

export interface LatencyLane {
  name: string;
  series: number; // of looks
  n: number;
  levels: number[];
  needs: number[]; // iterations, for each level
  quantiles_s: number[];
  trials: Trial[];
  disturbed: string[];
}

export function lanesOf(m: Measured, subject: number | null): LatencyLane[] {
  const figures = m.figures;
  if (figures === null) return [];
  if (subject === null) {
    return figures.distributions.map((each) => ({
      name: m.names[each.subject] ?? "",
      series: each.subject,
      n: each.n,
      levels: figures.quantile_levels,
      needs: figures.quantile_needs,
      quantiles_s: each.quantiles_s,
      trials: trialsOf(m.run, each.subject),
      disturbed: [],
    }));
  }
  const of = figures.distributions.find((each) => each.subject === subject);
  const trials = trialsOf(m.run, subject);
  return (of?.processes ?? []).map((each) => {
    const own = trials.filter((trial) => trial.process === each.process);
    const disturbed = own.flatMap(disturbances);
    return {
      name: processName(each.process, disturbed.length > 0),
      series: each.process,
      n: each.n,
      levels: figures.process_levels,
      needs: figures.process_needs,
      quantiles_s: each.quantiles_s,
      trials: own,
      disturbed,
    };
  });
}

// Of a level that there are enough iterations for; the others are points of the curve, and no percentiles.
export function percentile(lane: LatencyLane, level: number): number | null {
  const needed = quantile(lane.levels, lane.needs, level);
  return needed === null || lane.n < needed ? null : quantile(lane.levels, lane.quantiles_s, level);
}

export function processName(process: number, disturbed: boolean): string {
  return `process ${process + 1}${disturbed ? " ⚠ disturbed" : ""}`;
}

export function recordedOf(lane: LatencyLane): number {
  return lane.trials.reduce((sum, trial) => sum + samplesOf(trial).length, 0);
}

export function timedOf(lane: LatencyLane): number {
  return lane.trials.reduce((sum, trial) => sum + trial.iterations, 0);
}
