// What the pictures of a run have in common: its trials by subject, names that tell subjects apart, and what disturbed
// a process.
import type { Part, Run, RunFigures, RunSubject, Trial, Variants } from "../document.ts";
import { visible } from "../dom.ts";
import { count, percent } from "../format.ts";
import * as format from "../format.ts";
import type { Control } from "../picture.ts";

export interface Measured {
  run: Run; // trials: of `subjects`
  figures: RunFigures | null; // likewise
  names: string[]; // of each subject of the run, none twice
  subjects: RunSubject[]; // that are drawn
  variants: Variants | null;
}

export function measured(part: Part): Measured | null {
  const { run, figures, variants } = part;
  if (run === null) return null;
  return { run, figures, names: uniqueNames(run.subjects.map((subject) => subject.label)), subjects: run.subjects, variants };
}

// What is measured of each model: times and sizes of two networks share no axis, unless they are compared.
export function byModel(part: Part): { model: string; measured: Measured }[] {
  const whole = measured(part);
  if (whole === null) return [];
  const modelOf = (subject: RunSubject): string => whole.run.subjects[subject.baseline ?? subject.index]?.model ?? subject.model;
  const models = [...new Set(whole.subjects.map(modelOf))];
  return models.map((model) => {
    const subjects = whole.subjects.filter((subject) => modelOf(subject) === model);
    const drawn = new Set(subjects.map((subject) => subject.index));
    const ofThem = (trial: Trial): boolean => drawn.has(trial.subject);
    const run = { ...whole.run, trials: whole.run.trials.filter(ofThem), side_trials: whole.run.side_trials.filter(ofThem) };
    const figures = whole.figures === null ? null : { ...whole.figures, distributions: whole.figures.distributions.filter((each) => drawn.has(each.subject)), fronts: whole.figures.fronts.filter((each) => each.front.some((subject) => drawn.has(subject))) };
    return { model, measured: { ...whole, run, figures, subjects } };
  });
}

// ECharts knows series by their names: equal labels get the subject's number.
export function uniqueNames(labels: string[]): string[] {
  const seen = new Map<string, number>();
  for (const label of labels) seen.set(label, (seen.get(label) ?? 0) + 1);
  return labels.map((label, index) => visible((seen.get(label) ?? 0) > 1 || label === "" ? `${label} (subject ${index + 1})` : label));
}

export function trialsOf(run: Run, subject: number): Trial[] {
  return run.trials.filter((trial) => trial.subject === subject).sort((a, b) => a.process - b.process);
}

export function samplesOf(trial: Trial): number[] {
  return trial.samples?.latency_s ?? [];
}

// In the plan's order, as many as a chart holds.
export const mostSubjects = 40;

export function leftOut(shown: number, all: number): string {
  return shown < all ? `The first ${shown} of ${all} subjects are drawn; the data have all of them.` : "";
}

export function sentences(...each: string[]): string {
  return each.filter((text) => text !== "").join(" ");
}

// What in the record of a process says that something disturbed it, in words.
export function disturbances(trial: Trial): string[] {
  const { foreign_cpu, steal, throttled_s, major_faults } = trial.noise;
  const ids = new Set(trial.diagnostics.map((diagnostic) => diagnostic.id));
  const words: string[] = [];
  if (ids.has("foreign_load")) words.push(`other programs used ${percent(foreign_cpu)} of a processor`);
  if (ids.has("steal")) words.push(`the hypervisor took ${percent(steal)} of the processors' time`);
  if ((throttled_s ?? 0) > 0) words.push(`a CPU quota stopped it for ${format.format("s", throttled_s)}`);
  if ((major_faults ?? 0) > 0) words.push(count(major_faults as number, "major page fault", "major page faults"));
  for (const diagnostic of trial.diagnostics) {
    if (diagnostic.severity !== "info" && !toldAbove.has(diagnostic.id)) words.push(diagnostic.message);
  }
  return words;
}
const toldAbove = new Set(["foreign_load", "steal", "throttled", "major_faults"]);

export function subjectControl(subjects: number[], names: string[], first: string | null, change: (subject: number | null) => void): Control {
  const choices = subjects.map((subject) => ({ value: String(subject), label: names[subject] ?? "" }));
  if (first !== null) choices.unshift({ value: "", label: first });
  return {
    label: first === null ? "Subject" : "Show",
    choices,
    value: choices[0]?.value ?? "",
    change: (value) => change(value === "" ? null : Number(value)),
  };
}

// The value at one of the document's levels; the page interpolates none of its own.
export function quantile(levels: number[], values: number[], level: number): number | null {
  const at = levels.findIndex((each) => Math.abs(each - level) < 1e-9);
  return at < 0 ? null : (values[at] ?? null);
}
