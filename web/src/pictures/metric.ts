// How metrics are called and which quantity they are.
import type { Estimate } from "../document.ts";
import { count, format, interval, MISSING, unitFor } from "../format.ts";
import type { Quantity } from "../format.ts";

// "latency_p50" is "Latency p50", "load_time" is "Load time".
export function metricTitle(metric: string): string {
  const text = metric.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Rows of a tooltip: the value, its interval, n and how it was made.
export function estimateRows(name: string, quantity: Quantity, estimate: Pick<Estimate, "value" | "interval"> & Partial<Estimate>, plainUnit = ""): [string, string][] {
  const value = format(quantity, estimate.value, 5);
  const rows: [string, string][] = [[name, plainUnit === "" || value === MISSING ? value : `${value} ${plainUnit}`]];
  if (estimate.interval !== null && estimate.value !== null) {
    const unit = unitFor(quantity, estimate.value);
    rows.push([`${Math.round(estimate.interval.confidence * 1000) / 10} % interval`, `${interval(estimate.interval.low, estimate.interval.high, unit)} ${plainUnit === "" ? unit.name : plainUnit}`.trim()]);
  } else if (estimate.note === "exact") {
    rows.push(["interval", "none: it is exact"]);
  } else {
    rows.push(["interval", estimate.note === undefined || estimate.note === "" ? MISSING : estimate.note]);
  }
  if (estimate.n !== undefined) rows.push(["n", `${count(estimate.n, "value", "values")} of ${count(estimate.processes ?? 0, "process", "processes")}`]);
  if (estimate.method !== undefined && estimate.method !== "") rows.push(["method", estimate.method]);
  return rows;
}
