// A run's subjects with what is known of each: its summary, its place in the plan, its model, what was executed.
import type { Model, PlannedSubject, Run, RunSubject } from "../document.ts";

export interface SubjectRow {
  index: number; // into run.subjects
  label: string; // with a number where two have the same
  summary: RunSubject;
  planned: PlannedSubject | undefined;
  model: Model | undefined;
  executed: Record<string, string>; // of its first trial that says
  failure: string; // why there are no figures; "" where there are
}

export function subjectRows(run: Run): SubjectRow[] {
  const labels = subjectLabels(run);
  const executed = executedBySubject(run);
  return run.subjects.map((summary, index) => ({
    index,
    label: labels[index] ?? summary.label,
    summary,
    planned: run.plan.subjects[summary.index],
    model: run.models[summary.index],
    executed: executed.get(summary.index) ?? {},
    failure: failureOf(run, summary),
  }));
}

export function subjectLabels(run: Run): string[] {
  const seen = new Map<string, number>();
  for (const subject of run.subjects) seen.set(subject.label, (seen.get(subject.label) ?? 0) + 1);
  return run.subjects.map((subject, index) => ((seen.get(subject.label) ?? 0) > 1 ? `${subject.label} (no. ${index + 1})` : subject.label));
}

function executedBySubject(run: Run): Map<number, Record<string, string>> {
  const executed = new Map<number, Record<string, string>>();
  for (const trial of [...run.trials, ...run.side_trials]) {
    if (!executed.has(trial.subject) && Object.keys(trial.executed).length > 0) executed.set(trial.subject, trial.executed);
  }
  return executed;
}

function failureOf(run: Run, subject: RunSubject): string {
  if (subject.trials_ok + subject.trials_partial > 0) return "";
  const trial = run.trials.find((each) => each.subject === subject.index && each.end !== "ok");
  if (trial === undefined) return "no trial of it was run";
  return `${endOf(trial.end)} in phase ${wordsOf(trial.phase)}${trial.message === "" ? "" : `: ${trial.message}`}`;
}

// "out_of_memory" is "out of memory".
export function wordsOf(id: string): string {
  return id.replaceAll("_", " ");
}

export function endOf(end: string): string {
  return end === "timeout" ? "timed out" : wordsOf(end);
}
