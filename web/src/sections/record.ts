// The record: what was measured on what, with which settings and limits, how every trial ended, and how to do it again.
import type { LayersSide, Model, Part, Plan, Run, RunFigures, Validation, ValidationSide } from "../document.ts";
import { el, name } from "../dom.ts";
import { count, duration, format, percent, when, whole } from "../format.ts";
import { badge } from "../signs.ts";
import { commandLine } from "./commands.ts";
import { factGroups } from "./facts.ts";
import type { FactGroup } from "./facts.ts";
import { grid } from "./grid.ts";
import { machineFacts, versionFacts } from "./machine.ts";
import { settingsOf } from "./settings.ts";
import type { Settings, SettingsRow } from "./settings.ts";
import { subjectLabels, wordsOf } from "./subjects.ts";
import { failures, trialRows, trialsTable } from "./trials.ts";

export function record(part: Part): (HTMLElement | null)[] {
  const { run, figures, validation, layers, history } = part;
  return [
    ...(run === null ? [] : runRecord(run, figures)),
    ...(validation === null ? [] : validationRecord(validation)),
    layers === null ? null : headed("Sides", sidesTable(layers.reference, layers.candidate, "reference")),
    layers === null ? null : factGroups([{ title: "Data", facts: [{ name: "item that both ran on", value: layers.item }, { name: "sandbox", value: layers.sandbox }] }]),
    history === null || history.machines.length === 0
      ? null
      : headed("Machines", factGroups(history.machines.map((machine) => ({
          title: machine.hostname ?? machine.machine,
          facts: [{ name: "processor", value: machine.processor ?? "" }, { name: "fingerprint", value: machine.machine, code: true }],
        })))),
    run === null && validation === null ? null : headed("The document", el("p", {}, "“Save JSON” at the head of the page saves all that it shows: every report as infermeter writes it, with all figures, trials and messages", run === null ? null : kept(run), ".")),
  ];
}

function headed(title: string, ...content: (HTMLElement | null)[]): HTMLElement | null {
  const there = content.filter((each) => each !== null);
  return there.length === 0 ? null : el("div", { class: "block" }, el("h4", {}, title), ...there);
}

// How many of the iterations the document has one by one.
function kept(run: Run): string {
  const timed = run.trials.reduce((sum, trial) => sum + trial.iterations, 0);
  const there = run.trials.reduce((sum, trial) => sum + (trial.samples?.latency_s.length ?? 0), 0);
  if (timed === 0) return "";
  if (there === 0) return `; its ${whole(timed)} iterations are not in it one by one`;
  if (there >= timed) return `, and each of its ${whole(timed)} iterations`;
  return `, and ${whole(there)} of its ${whole(timed)} iterations: the smallest and largest of each stretch are kept, and figures are of all`;
}

function runRecord(run: Run, figures: RunFigures | null): (HTMLElement | null)[] {
  const rows = trialRows(run, figures);
  const settings = settingsOf(run);
  return [
    headed("To repeat it", run.environment.command === "" ? el("p", { class: "note" }, "The command is not known.") : commandLine(run.environment.command, "the command that repeats the run"), identity(run)),
    headed("Machine and versions", factGroups([...machineFacts(run.environment), versionFacts(run)])),
    headed("Settings that differ between subjects", differing(settings)),
    headed(run.subjects.length > 1 ? "Settings that all subjects share" : "Settings", factGroups([{ title: "As executed, where the back end says", facts: settings.common.map((each) => ({ name: each.name, value: each.text })) }, ...planFacts(run.plan)])),
    headed("Models", modelsTable(run)),
    headed("Trials", ends(run), failures(rows), trialsTable(rows)),
  ];
}

function identity(run: Run): HTMLElement {
  return el("p", { class: "note" }, "Run ", name(run.id), `, ${when(run.created_at)}, exit code ${run.exit_code}`, run.finished ? "." : ", unfinished.");
}

function differing(settings: Settings): HTMLElement | null {
  if (settings.differing.length === 0) return null;
  const departing = settings.rows.flatMap((row) => [...row.settings].filter(([, setting]) => setting.departs).map(([each, setting]) => ({ row, each, setting })));
  const alone = settings.rows.length < 2;
  return el(
    "div",
    { class: "stack" },
    departing.length === 0
      ? null
      : el("ul", { class: "departures" }, ...departing.slice(0, 20).map(({ row, each, setting }) => el("li", {}, badge("not as asked", "warning"), " ", name(row.label), ": ", name(`${each} ${setting.text}`)))),
    departing.length > 20 ? el("p", { class: "note" }, `${departing.length - 20} more are in the table.`) : null,
    alone
      ? null
      : grid<SettingsRow>({
          caption: "Settings by subject",
          columns: [
            { kind: "text", id: "subject", title: "subject", text: (row) => row.label },
            ...settings.differing.map((each) => ({
              kind: "text" as const,
              id: `setting ${each}`,
              title: each,
              text: (row: SettingsRow): string => row.settings.get(each)?.text ?? "–",
              tone: (row: SettingsRow) => (row.settings.get(each)?.departs === true ? ("warning" as const) : null),
            })),
          ],
          rows: settings.rows,
        }),
  );
}

function yes(value: boolean): string {
  return value ? "yes" : "no";
}

function planFacts(plan: Plan): FactGroup[] {
  const { question, data } = plan;
  const distributions = Object.entries(data.distributions).map(([input, text]) => (input === "" ? text : `${input}: ${text}`));
  return [
    {
      title: "Stopping",
      facts: [
        { name: question === null ? "processes per subject" : "pairs at most", value: plan.automatic_processes ? `as many as answers take, ${plan.processes} at most` : whole(plan.processes) },
        { name: "warm-up", value: plan.count_first ? "none: the first inference counts" : plan.automatic_warmup ? `chosen from pilots (${plan.warmup} where they fail)` : count(plan.warmup, "iteration", "iterations") },
        { name: "iterations", value: plan.automatic_iterations ? "chosen from pilots" : plan.iterations === null ? "as many as fit" : whole(plan.iterations) },
        ...(plan.duration_s === null ? [] : [{ name: "duration", value: duration(plan.duration_s) }]),
        ...(plan.leak_iterations > 0 ? [{ name: "iterations of leak trials", value: whole(plan.leak_iterations) }] : []),
      ],
    },
    {
      title: "Question",
      facts: question === null ? [] : [
        { name: "metric", value: wordsOf(question.metric) },
        { name: "margin", value: percent(question.margin) },
        { name: "alpha", value: percent(question.alpha) },
        { name: "until resolved", value: yes(question.until_resolved) },
        { name: "all pairs are measured, and tested once", value: yes(question.all_pairs) },
        { name: "disturbed pairs are dropped", value: yes(question.drop_disturbed) },
        { name: "budget", value: question.budget_s === null ? "none" : duration(question.budget_s) },
      ],
    },
    {
      title: "Limits",
      facts: [
        { name: "load timeout", value: plan.load_timeout_s === null ? "none" : duration(plan.load_timeout_s) },
        { name: "run timeout", value: plan.run_timeout_s === null ? "none" : duration(plan.run_timeout_s) },
        { name: "memory", value: plan.memory_limit_bytes === 0 ? "80 % of what is available" : format("bytes", plan.memory_limit_bytes) },
        { name: "sandbox", value: plan.sandbox },
        { name: "processors", value: plan.cpus.length === 0 ? "all that are usable" : plan.cpus.join(", ") },
      ],
    },
    {
      title: "Data and rules",
      facts: [
        { name: "seed of the order", value: String(plan.seed) },
        { name: "data", value: data.source },
        ...(data.source === "synthetic" ? [{ name: "seed of the data", value: String(data.seed) }] : []),
        ...(distributions.length === 0 ? [] : [{ name: "distributions", value: distributions.join(", ") }]),
        ...(data.limit > 0 ? [{ name: "items at most", value: whole(data.limit) }] : []),
        ...(data.labels === "" ? [] : [{ name: "labels", value: data.labels, code: true }]),
        { name: "rule for outliers", value: plan.outliers === "none" ? "none is removed" : plan.outliers },
        { name: "outputs are compared", value: yes(plan.compare_outputs) },
        { name: "results in", value: plan.output_dir, code: true },
        ...(plan.backend_path === "" ? [] : [{ name: "back ends from", value: plan.backend_path, code: true }]),
      ],
    },
  ];
}

interface ModelRow {
  model: Model;
  users: string[];
}

// Each file once, with the subjects that it is of.
function modelsTable(run: Run): HTMLElement | null {
  const labels = subjectLabels(run);
  const files = new Map<string, ModelRow>();
  run.subjects.forEach((subject, index) => {
    const model = run.models[subject.index];
    if (model === undefined) return;
    const key = JSON.stringify([model.path, model.sha256]);
    const row = files.get(key) ?? { model, users: [] };
    row.users.push(labels[index] ?? "");
    files.set(key, row);
  });
  if (files.size === 0) return null;
  return grid<ModelRow>({
    caption: "Models by file",
    columns: [
      { kind: "text", id: "model", title: "model", text: ({ model }) => model.name || "not known" },
      { kind: "number", id: "size", title: "size", quantity: "bytes", measure: ({ model }) => ({ value: model.size_bytes || null }) },
      { kind: "number", id: "parameters", title: "parameters", quantity: "count", measure: ({ model }) => ({ value: model.parameters }) },
      { kind: "number", id: "nonzero", title: "not zero", quantity: "count", measure: ({ model }) => ({ value: model.nonzero_parameters }) },
      { kind: "text", id: "format", title: "format", text: ({ model }) => model.format },
      { kind: "text", id: "from", title: "from", text: ({ model }) => (model.from_zoo ? "the zoo" : model.made) },
      { kind: "text", id: "users", title: "subjects", text: ({ users }) => (users.length > 3 ? `${users.slice(0, 2).join(", ")} and ${users.length - 2} more` : users.join(", ")) },
      { kind: "text", id: "path", title: "path", text: ({ model }) => model.path, sub: ({ model }) => (model.weight_files.length > 0 ? `with ${model.weight_files.join(", ")}` : ""), code: true },
      { kind: "text", id: "sha", title: "SHA-256", text: ({ model }) => model.sha256, code: true },
    ],
    rows: [...files.values()],
  });
}

function ends(run: Run): HTMLElement {
  const all = run.trials.length;
  if (all + run.side_trials.length === 0) return el("p", {}, "No trial was run.");
  const failed = run.trials.filter((trial) => trial.end !== "ok").length;
  const side = run.side_trials.length > 0 ? `, and ${count(run.side_trials.length, "side trial", "side trials")} of which no figure is made` : "";
  return el("p", {}, failed === 0 ? `${count(all, "trial", "trials")}, all ended well${side}.` : `${count(all, "trial", "trials")}, ${failed} of them ended early or failed${side}.`);
}

function validationRecord(validation: Validation): (HTMLElement | null)[] {
  const { data, times } = validation;
  return [
    headed("Sides", sidesTable(validation.baseline, validation.candidate, "baseline")),
    headed("Data and times", factGroups([
      {
        title: "Data",
        facts: [
          { name: "source", value: data.source },
          { name: "items", value: whole(data.items) },
          { name: "labels", value: data.labels === "" ? "the data's own, where they have any" : data.labels },
          { name: "of them with noise", value: whole(Math.max(0, data.perturb - 1)) },
          { name: "noise", value: String(data.noise) },
          { name: "seed", value: String(data.seed) },
          { name: "items run twice for the floor", value: whole(validation.again.items) },
          { name: "sandbox", value: validation.sandbox },
        ],
      },
      {
        title: "Times",
        facts: [
          { name: "models", value: duration(times.models_s) },
          { name: "baseline against itself", value: duration(times.again_s) },
          { name: "data", value: duration(times.data_s) },
          { name: "all of it", value: duration(times.whole_s) },
        ],
      },
    ])),
  ];
}

interface SideRow {
  setting: string;
  left: string;
  right: string;
}

function sidesTable(left: ValidationSide | LayersSide, right: ValidationSide | LayersSide, role: string): HTMLElement {
  const pairs = (side: ValidationSide | LayersSide): Map<string, string> =>
    new Map([
      ["subject", side.label],
      ["model", side.model],
      ["back end", side.backend],
      ...("batch_size" in side ? [["batch size", String(side.batch_size)], ["SHA-256", side.sha256]] as [string, string][] : []),
      ...Object.entries(side.executed).map(([key, value]): [string, string] => [`executed ${wordsOf(key)}`, value]),
    ]);
  const [a, b] = [pairs(left), pairs(right)];
  const rows = [...new Set([...a.keys(), ...b.keys()])].map((setting): SideRow => ({ setting, left: a.get(setting) ?? "–", right: b.get(setting) ?? "–" }));
  return grid<SideRow>({
    caption: `Settings of ${role} and candidate`,
    columns: [
      { kind: "text", id: "setting", title: "setting", text: (row) => row.setting },
      { kind: "text", id: "left", title: role, text: (row) => row.left },
      { kind: "text", id: "right", title: "candidate", text: (row) => row.right },
      { kind: "text", id: "same", title: "same", text: (row) => (row.left === row.right ? "same" : "differs"), tone: (row) => (row.left === row.right ? null : "warning") },
    ],
    rows,
  });
}
