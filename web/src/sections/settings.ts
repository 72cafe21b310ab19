// Subjects' settings as asked and as executed: those that differ between subjects apart from those that all share.
import type { Run } from "../document.ts";
import { subjectLabels, wordsOf } from "./subjects.ts";

export interface Setting {
  text: string; // "float32", "asked float32, executed bfloat16"
  departs: boolean; // it was executed in another way than was asked
  known: boolean; // false: it was left to the back end, which did not say
}

export interface SettingsRow {
  label: string;
  settings: Map<string, Setting>; // by name
}

export interface Settings {
  rows: SettingsRow[];
  differing: string[]; // names, of which subjects have different settings, or one departs
  common: { name: string; text: string }[];
}

type Pairs = Map<string, string>;

function asked(run: Run, index: number): Pairs {
  const subject = run.plan.subjects[index];
  const model = run.models[index];
  if (subject === undefined) return new Map();
  const pairs: Pairs = new Map([
    ["model", subject.model],
    ["back end", subject.backend],
    ["device", subject.device],
    ["dtype", subject.dtype],
    ["batch size", String(subject.batch_size)],
    ["threads", String(subject.threads)],
  ]);
  if (model !== undefined && model.sha256 !== "") pairs.set("model's SHA-256", model.sha256.slice(0, 12));
  if (subject.backend_library !== "") pairs.set("back end's library", subject.backend_library);
  for (const [key, value] of Object.entries(subject.dimensions)) pairs.set(`dimension ${key}`, value);
  for (const [key, value] of Object.entries(subject.batch_axes)) pairs.set(key === "" ? "batch axis" : `batch axis of ${key}`, value);
  for (const [key, value] of Object.entries(subject.options)) pairs.set(`option ${key}`, value);
  for (const [key, value] of Object.entries(subject.environment ?? {})) pairs.set(`environment ${key}`, value);
  return pairs;
}

// All values that trials of a subject report, where they are not of one mind.
function executed(run: Run): Map<number, Pairs> {
  const found = new Map<number, Map<string, Set<string>>>();
  for (const trial of run.trials) {
    const of = found.get(trial.subject) ?? new Map<string, Set<string>>();
    for (const [key, value] of Object.entries(trial.executed)) of.set(key, (of.get(key) ?? new Set()).add(value));
    found.set(trial.subject, of);
  }
  return new Map([...found].map(([subject, of]) => [subject, new Map([...of].map(([key, values]) => [key, [...values].join(" and ")]))]));
}

const leftToTheBackEnd = new Set(["auto", "0", ""]); // device auto, threads 0

function together(askedFor: string | undefined, was: string | undefined): Setting {
  const open = askedFor !== undefined && leftToTheBackEnd.has(askedFor);
  if (was === undefined && open) return { text: "left to the back end", departs: false, known: false };
  const departs = askedFor !== undefined && was !== undefined && was !== askedFor && !open;
  return { text: departs ? `asked ${askedFor}, executed ${was}` : was ?? askedFor ?? "", departs, known: true };
}

export function settingsOf(run: Run): Settings {
  const labels = subjectLabels(run);
  const ofSubjects = executed(run);
  const rows = run.subjects.map((subject, index): SettingsRow => {
    const plan = asked(run, subject.index);
    const was = ofSubjects.get(subject.index) ?? new Map<string, string>();
    const names = [...plan.keys(), ...[...was.keys()].filter((key) => !plan.has(key)).map(wordsOf)];
    const byName = new Map([...was].map(([key, value]) => [wordsOf(key), value]));
    return { label: labels[index] ?? "", settings: new Map(names.map((each) => [each, together(plan.get(each), byName.get(each))])) };
  });
  const names = [...new Set(rows.flatMap((row) => [...row.settings.keys()]))];
  const differs = (each: string): boolean => rows.some((row) => row.settings.get(each)?.departs === true) || new Set(comparable(rows, each)).size > 1;
  const differing = names.filter(differs);
  return {
    rows,
    differing,
    common: names.filter((each) => !differs(each)).map((each) => ({ name: each, text: comparable(rows, each)[0] ?? "left to the back end" })).filter((each) => each.text !== ""),
  };
}

// What a back end would have reported says nothing about a subject of which no trial got that far.
function comparable(rows: SettingsRow[], setting: string): string[] {
  const missing = setting.startsWith("option ") || setting.startsWith("dimension ") ? "not set" : null;
  return rows.map((row) => (row.settings.get(setting)?.known === false ? null : row.settings.get(setting)?.text ?? missing)).filter((text): text is string => text !== null);
}
