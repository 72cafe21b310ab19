// How each trial ended: those that failed first, with what they said.
import type { Run, RunFigures, Tone, Trial } from "../document.ts";
import { el, name, visible } from "../dom.ts";
import { count, duration, MISSING, when } from "../format.ts";
import type { Quantity } from "../format.ts";
import { badge, sign } from "../signs.ts";
import { grid } from "./grid.ts";
import type { Column } from "./grid_model.ts";
import { endOf, subjectLabels, wordsOf } from "./subjects.ts";

export interface TrialRow {
  trial: Trial;
  subject: string;
  p50: number | null; // of its process, from the document's figures
}

export function trialRows(run: Run, figures: RunFigures | null): TrialRow[] {
  const labels = new Map(subjectLabels(run).map((label, index) => [run.subjects[index]?.index ?? index, label]));
  const middle = figures?.process_levels.indexOf(0.5) ?? -1;
  const p50 = new Map<string, number | undefined>();
  for (const distribution of figures?.distributions ?? []) {
    const subject = run.subjects[distribution.subject]?.index ?? distribution.subject;
    for (const process of distribution.processes) p50.set(`${subject}/${process.process}`, process.quantiles_s[middle]);
  }
  const row = (trial: Trial): TrialRow => ({
    trial,
    subject: labels.get(trial.subject) ?? run.plan.subjects[trial.subject]?.label ?? `subject ${trial.subject}`,
    p50: trial.purpose === "timed" ? p50.get(`${trial.subject}/${trial.process}`) ?? null : null,
  });
  const rows = [...run.trials, ...run.side_trials].map(row);
  return [...rows.filter((each) => each.trial.end !== "ok"), ...rows.filter((each) => each.trial.end === "ok")];
}

const tones: Record<string, Tone> = { ok: "good", interrupted: "warning" };

export function toneOfEnd(end: string): Tone {
  return tones[end] ?? "bad";
}

// POSIX names of the signals that workers are ended by.
const signals: Record<number, string> = { 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 24: "SIGXCPU", 31: "SIGSYS" };

function signalText(signal: number | null): string {
  if (signal === null) return "";
  const known = signals[signal];
  return known === undefined ? String(signal) : `${signal} (${known})`;
}

function number(id: string, title: string, quantity: Quantity, of: (trial: Trial) => number | null, about?: string): Column<TrialRow> {
  return { kind: "number", id, title, quantity, measure: ({ trial }) => ({ value: of(trial) }), ...(about === undefined ? {} : { about }) };
}

function noise(id: keyof Trial["noise"], title: string, quantity: Quantity, about?: string): Column<TrialRow> {
  return number(`noise ${id}`, title, quantity, (trial) => trial.noise[id], about);
}

const columns: Column<TrialRow>[] = [
  { kind: "text", id: "subject", title: "subject", text: (row) => row.subject },
  { kind: "text", id: "end", title: "end", text: ({ trial }) => endOf(trial.end), tone: ({ trial }) => toneOfEnd(trial.end) },
  { kind: "text", id: "phase", title: "phase", text: ({ trial }) => wordsOf(trial.phase), about: "How far it came." },
  number("position", "position", "count", (trial) => trial.position + 1, "In the order in which all trials were run."),
  number("process", "process", "count", (trial) => trial.process + 1),
  { kind: "text", id: "purpose", title: "purpose", text: ({ trial }) => trial.purpose, about: "Pilots choose warm-up and iterations, leak trials look for leaks, profile trials report operators: no latency is measured in any of them." },
  { kind: "text", id: "signal", title: "signal", text: ({ trial }) => signalText(trial.signal) },
  number("iterations", "iterations", "count", (trial) => trial.iterations),
  { kind: "number", id: "p50", title: "latency p50", quantity: "s", about: "Of this process alone.", measure: (row) => ({ value: row.p50 }) },
  number("load", "load", "s", (trial) => trial.load_s),
  number("compile", "compile", "s", (trial) => trial.compile_s),
  number("first", "first inference", "s", (trial) => trial.first_inference_s),
  number("wall", "wall time", "s", (trial) => trial.wall_s),
  number("memory", "memory", "bytes", (trial) => trial.memory.rss_peak_inference_bytes, "Largest resident set during inference."),
  number("device_memory", "device memory", "bytes", (trial) => trial.memory.device_peak_bytes),
  noise("foreign_cpu", "foreign load", "share", "Processor time that other programs used, as a share of one processor."),
  noise("steal", "steal", "share", "Time in which the hypervisor ran somebody else."),
  noise("pressure_cpu", "pressure", "share"),
  noise("own_cpu", "own load", "share"),
  noise("threads", "threads", "count", "Of the worker."),
  noise("processors", "processors", "count", "That the worker may use."),
  noise("involuntary_switches", "involuntary switches", "count"),
  noise("voluntary_switches", "voluntary switches", "count"),
  noise("major_faults", "major faults", "count"),
  noise("minor_faults", "minor faults", "count"),
  noise("throttled_s", "throttled", "s"),
  noise("frequency_before_hz", "frequency before, Hz", "count"),
  noise("frequency_after_hz", "frequency after, Hz", "count"),
  noise("temperature_before_c", "temperature before, °C", "count"),
  noise("temperature_after_c", "temperature after, °C", "count"),
  { kind: "text", id: "started", title: "started", text: ({ trial }) => (trial.wall_s > 0 || trial.end === "ok" ? when(trial.started_at) : MISSING), order: ({ trial }) => trial.started_at },
  { kind: "text", id: "clock", title: "clock", text: ({ trial }) => trial.clock.name },
  { kind: "text", id: "diagnostics", title: "diagnostics", text: ({ trial }) => trial.diagnostics.map((each) => each.id).join(", ") },
  { kind: "text", id: "input", title: "input digest", text: ({ trial }) => trial.input_digest, code: true },
  { kind: "text", id: "output", title: "output digest", text: ({ trial }) => trial.output_digest, code: true },
];

const shown = new Set(["subject", "end", "phase", "position", "process", "signal", "iterations", "p50", "wall", "memory", "noise foreign_cpu", "noise steal", "diagnostics"]);

export function trialsTable(rows: TrialRow[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const purposes = new Set(rows.map((row) => row.trial.purpose));
  return grid({
    caption: "All trials, those that failed first",
    limit: 100,
    columns,
    rows,
    off: new Set(columns.map((column) => column.id).filter((id) => !shown.has(id) && !(id === "purpose" && purposes.size > 1))),
    groupings: [
      { id: "subject", label: "subject", key: (row) => row.subject },
      { id: "end", label: "end", key: (row) => endOf(row.trial.end) },
      { id: "purpose", label: "purpose", key: (row) => row.trial.purpose },
    ],
    mark: (row) => (row.trial.end === "ok" ? undefined : "failed"),
  });
}

const openedAtFirst = 3; // more would push everything else away
const listed = 50;

// Trials that ended in the same way are reported once.
export function failureGroups(rows: TrialRow[]): TrialRow[][] {
  const groups = new Map<string, TrialRow[]>();
  for (const row of rows) {
    const { end, subject, phase, signal, message, stderr_tail: tail } = row.trial;
    if (end === "ok") continue;
    const key = JSON.stringify([end, subject, phase, signal, message, tail]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

export function failures(rows: TrialRow[]): HTMLElement | null {
  const groups = failureGroups(rows);
  if (groups.length === 0) return null;
  const more = groups.length - listed;
  return el("div", { class: "failures" }, ...groups.slice(0, listed).map((group, index) => failure(group, index < openedAtFirst)), more > 0 ? el("p", { class: "note" }, `${more} more are in the table.`) : null);
}

function placeOf(group: TrialRow[]): string {
  const [first] = group;
  if (first === undefined) return "";
  const { phase, signal, iterations, purpose, wall_s: wall } = first.trial;
  const processes = group.map((row) => row.trial.process + 1).join(", ");
  const facts = [
    `${group.length === 1 ? "process" : "processes"} ${processes}`,
    purpose === "timed" ? "" : `a ${purpose} trial`,
    `in phase ${wordsOf(phase)}`,
    signal === null ? "" : `signal ${signalText(signal)}`,
    group.length === 1 && iterations > 0 ? `after ${count(iterations, "iteration", "iterations")}` : "",
    group.length === 1 && wall > 0 ? `after ${duration(wall)}` : "",
  ];
  return facts.filter((each) => each !== "").join(", ");
}

function failure(group: TrialRow[], open: boolean): HTMLElement {
  const [{ trial, subject }] = group as [TrialRow];
  return el(
    "details",
    { class: "failure", open },
    el("summary", {}, badge(endOf(trial.end), toneOfEnd(trial.end)), " ", name(subject), el("span", { class: "note" }, ` ${placeOf(group)}`)),
    trial.message === "" ? null : el("p", { class: "message" }, name(trial.message)),
    diagnosticList(trial),
    trial.stderr_tail === "" ? el("p", { class: "note" }, "It wrote nothing to its error stream.") : el("div", {}, el("p", { class: "note" }, "The end of its error stream:"), el("pre", { tabindex: 0, role: "group", "aria-label": `The end of the error stream of ${visible(subject)}` }, visible(trial.stderr_tail, true))),
  );
}

function diagnosticList(trial: Trial): HTMLElement | null {
  if (trial.diagnostics.length === 0) return null;
  const tone = (severity: string): Tone => (severity === "error" ? "bad" : severity === "warning" ? "warning" : "plain");
  const item = (each: Trial["diagnostics"][number]): HTMLElement =>
    el("li", {}, sign(tone(each.severity)), " ", name(each.message), each.remedy === "" ? null : el("span", { class: "remedy" }, " → ", name(each.remedy)));
  return el("ul", { class: "messages" }, ...trial.diagnostics.map(item));
}
