// The figures that a run has of each subject: its metrics, its model's, and those of its answers.
import type { Estimate, OutputDifference, RunSubject } from "../document.ts";
import { quantityOf } from "../format.ts";
import type { Quantity } from "../format.ts";
import { metricTitle } from "./metric.ts";
import type { Measured } from "./trials.ts";

export type Value = Pick<Estimate, "value" | "interval"> & Partial<Estimate>;

export interface Figure {
  id: string;
  title: string;
  quantity: Quantity;
  lowerIsBetter: boolean;
  unit: string; // of quantity plain
  of(subject: number): Value;
}

export const none: Value = { value: null, interval: null };
const exact = (value: number | null | undefined): Value => ({ value: value ?? null, interval: null, note: "exact" });

// An output error: the largest relative L2 difference of a subject's outputs from the reference's; none where one of them
// has no such figure and is not the same.
export function outputError(subject: RunSubject | undefined, isReference = false): Value {
  if (isReference) return { value: 0, interval: null, note: "exact" };
  const errorOf = (each: OutputDifference): number | null => (!each.comparable || each.non_finite_apart > 0 ? null : (each.relative_l2 ?? ((each.max_absolute ?? 0) === 0 ? 0 : null)));
  const all = (subject?.outputs?.differences ?? []).map(errorOf);
  const errors = all.filter((error) => error !== null);
  return errors.length === 0 || errors.length < all.length ? none : { value: Math.max(...errors), interval: null, note: "relative L2 of the output that differs most" };
}

const order = ["latency_p50", "throughput", "memory_peak", "device_memory_peak"];
const ofModel = ["model_size", "parameters"];

// Those of which at least one subject has a value, in the order in which people ask for them.
export function figuresOf(m: Measured): Figure[] {
  const { subjects, models } = m.run;
  const references = new Set(m.subjects.flatMap((subject) => subject.outputs?.reference ?? []));
  const metrics = [...new Set(subjects.flatMap((subject) => Object.keys(subject.metrics)))];
  const sorted = [...order.filter((id) => metrics.includes(id)), ...ofModel, ...metrics.filter((id) => !order.includes(id))];
  const all = sorted.map((id): Figure => {
    if (id === "model_size") return { id, title: "Model size", quantity: "bytes", lowerIsBetter: true, unit: "", of: (subject) => exact(models[subject]?.size_bytes || null) };
    if (id === "parameters") return { id, title: "Parameters", quantity: "count", lowerIsBetter: true, unit: "", of: (subject) => exact(models[subject]?.parameters) };
    const first = subjects.find((subject) => subject.metrics[id] !== undefined)?.metrics[id];
    return {
      id,
      title: metricTitle(id),
      quantity: quantityOf(first?.unit ?? "s"),
      lowerIsBetter: first?.lower_is_better ?? true,
      unit: "",
      of: (subject) => subjects[subject]?.metrics[id] ?? none,
    };
  });
  all.push({ id: "accuracy", title: "Accuracy", quantity: "share", lowerIsBetter: false, unit: "", of: (subject) => subjects[subject]?.accuracy ?? none });
  all.push({ id: "output_error", title: "Output error (relative L2)", quantity: "plain", lowerIsBetter: true, unit: "", of: (subject) => outputError(subjects[subject], references.has(subject)) });
  return all.filter((figure) => m.subjects.some((subject) => figure.of(subject.index).value !== null));
}

// What the back ends count, by name and unit: a hit rate, tokens a second.
export function countersOf(m: Measured): Figure[] {
  const found = new Map<string, { name: string; unit: string }>();
  for (const subject of m.subjects) for (const counter of subject.counters) found.set(JSON.stringify([counter.name, counter.unit]), counter);
  return [...found].map(([id, { name, unit }]) => ({
    id,
    title: name,
    quantity: unit === "s" || unit === "bytes" ? unit : "plain",
    lowerIsBetter: false,
    unit: unit === "s" || unit === "bytes" ? "" : unit,
    of: (subject) => m.run.subjects[subject]?.counters.find((each) => each.name === name && each.unit === unit) ?? none,
  }));
}
