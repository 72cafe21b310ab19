// The columns of a run's figures. Every number is one of the document's; nothing is computed here but which of several
// outputs is shown.
import type { Estimate, OutputDifference, PairRatio, RunFigures, RunSubject, Tone } from "../document.ts";
import { count, MISSING } from "../format.ts";
import type { Quantity } from "../format.ts";
import type { Column, Grouping, Measure, NumberColumn, TextColumn } from "./grid_model.ts";
import type { SubjectRow } from "./subjects.ts";
import { wordsOf } from "./subjects.ts";

// The baseline that was chosen, an index into run.subjects; its group is compared with it, other groups with their own.
// null: every group with its own.
export interface BaselineChoice {
  chosen: number | null;
}

const metricOrder = [
  "latency_p50", "latency_p90", "latency_p95", "latency_p99", "latency_mean", "latency_std", "latency_min", "latency_max",
  "throughput", "memory_peak", "device_memory_peak",
];
const lateMetrics = ["load_time", "compile_time", "first_inference_time"];
const shownMetrics = ["latency_p50", "throughput", "memory_peak", "device_memory_peak"];
const tails = ["latency_p99", "latency_p95", "latency_p90", "latency_max"];

const titles: Record<string, string> = {
  latency_std: "latency standard deviation",
  memory_peak: "memory",
  device_memory_peak: "device memory",
  first_inference_time: "first inference",
};

const meanings: Record<string, string> = {
  latency_p50: "Median latency: half of the iterations took this long or less; with its interval over processes.",
  throughput: "Items per second: batch elements, not iterations.",
  memory_peak: "The largest resident set of the worker process during inference.",
  device_memory_peak: "The largest memory in use on the device.",
  load_time: "From the model's file to a model in memory.",
  compile_time: "What the back end needs to make the model ready to run.",
};

function about(estimate: Estimate): string {
  if (estimate.n === 0) return "";
  const from = `n = ${estimate.n} in ${count(estimate.processes, "process", "processes")}`;
  return estimate.method === "" ? from : `${from}; ${estimate.method}`;
}

function measureOf(estimate: Estimate | undefined, row: SubjectRow): Measure {
  if (estimate === undefined || (estimate.value === null && row.failure !== "")) return { value: null, note: row.failure };
  return { value: estimate.value, interval: estimate.interval, note: estimate.note, about: about(estimate) };
}

function metricColumn(id: string, quantity: Quantity): NumberColumn<SubjectRow> {
  const meaning = meanings[id];
  return {
    kind: "number",
    id,
    title: titles[id] ?? wordsOf(id),
    quantity,
    measure: (row) => measureOf(row.summary.metrics[id], row),
    ...(meaning === undefined ? {} : { about: meaning }),
  };
}

// Those that are known in their order, then whatever else the document has.
function metricColumns(rows: SubjectRow[]): { early: Column<SubjectRow>[]; late: Column<SubjectRow>[] } {
  const units = new Map<string, Quantity>();
  for (const row of rows) for (const [id, metric] of Object.entries(row.summary.metrics)) units.set(id, metric.unit);
  const others = [...units.keys()].filter((id) => !metricOrder.includes(id) && !lateMetrics.includes(id));
  const of = (ids: string[]): Column<SubjectRow>[] => ids.filter((id) => units.has(id)).map((id) => metricColumn(id, units.get(id) ?? "plain"));
  return { early: of(metricOrder), late: of([...lateMetrics, ...others]) };
}

export function speedUp(row: SubjectRow, rows: SubjectRow[], ratios: Ratios, choice: BaselineChoice): Measure {
  const chosen = choice.chosen === null ? undefined : rows[choice.chosen];
  const own = row.summary.baseline;
  const isOwn = chosen === undefined || chosen.summary.group !== row.summary.group;
  const baseline = isOwn ? own ?? row.index : chosen.index;
  if (baseline === row.index) return { value: null, instead: "baseline" };
  const given = baseline === own ? row.summary.ratios["latency_p50"] : undefined;
  if (given !== undefined) return measureOf(given, row);
  const pair = ratios(baseline, row.index);
  const note = (pair?.value ?? null) === null ? whyNoRatio(row, rows[baseline]) : "";
  return { value: pair?.value ?? null, interval: pair?.interval ?? null, note };
}

export type Ratios = (baseline: number, subject: number) => PairRatio | undefined;

export function ratiosOf(figures: RunFigures | null): Ratios {
  const pairs = new Map((figures?.ratios ?? []).map((ratio) => [`${ratio.baseline}/${ratio.subject}`, ratio]));
  return (baseline, subject) => pairs.get(`${baseline}/${subject}`);
}

function whyNoRatio(row: SubjectRow, baseline: SubjectRow | undefined): string {
  const why = (of: SubjectRow): string => of.failure || of.summary.metrics["latency_p50"]?.note || "";
  if (baseline === undefined) return "its baseline is not in the run";
  if ((baseline.summary.metrics["latency_p50"]?.value ?? null) === null) return `the baseline has no latency p50${why(baseline) === "" ? "" : `: ${why(baseline)}`}`;
  return why(row) || "the document has no ratio of the two";
}

function speedUpColumn(rows: SubjectRow[], figures: RunFigures | null, choice: BaselineChoice): NumberColumn<SubjectRow> {
  const ratios = ratiosOf(figures);
  return {
    kind: "number",
    id: "speed_up",
    title: "speed-up",
    quantity: "ratio",
    about: "Latency p50 of the baseline divided by that of the subject: 2 is twice as fast.",
    measure: (row) => speedUp(row, rows, ratios, choice),
  };
}

const sampleColumn: NumberColumn<SubjectRow> = {
  kind: "number",
  id: "n",
  title: "iterations",
  quantity: "count",
  about: "The iterations that the latency is of, and the processes that they ran in.",
  measure: (row) => {
    const metric = row.summary.metrics["latency_p50"];
    if (metric === undefined || metric.n === 0) return { value: null, note: row.failure };
    return { value: metric.n, sub: `in ${count(metric.processes, "process", "processes")}` };
  },
};

// The output in which a figure is worst.
function worst(row: SubjectRow, figure: (difference: OutputDifference) => number | null, larger: boolean): Measure {
  const outputs = row.summary.outputs;
  if (outputs === null) return { value: null };
  // A figure of the other outputs is none of the subject.
  const without = outputs.differences.find((difference) => !difference.comparable || difference.non_finite_apart > 0);
  if (without !== undefined) return { value: null, note: without.comparable ? `output ${without.name} is not finite where the other is` : without.reason };
  let found: OutputDifference | null = null;
  let value: number | null = null;
  for (const difference of outputs.differences) {
    const own = figure(difference);
    if (own === null || !Number.isFinite(own) || (value !== null && (larger ? own <= value : own >= value))) continue;
    [found, value] = [difference, own];
  }
  return { value, about: found === null ? "" : `output ${found.name}` };
}

function outputColumns(rows: SubjectRow[]): Column<SubjectRow>[] {
  const references = new Set(rows.map((row) => row.summary.outputs?.reference));
  const missing = (row: SubjectRow): string => (references.has(row.summary.index) ? "reference" : MISSING);
  const number = (id: string, title: string, text: string, larger: boolean, figure: (difference: OutputDifference) => number | null, unit?: string): NumberColumn<SubjectRow> => ({
    kind: "number", id, title, quantity: "plain", about: text, measure: (row) => worst(row, figure, larger), ...(unit === undefined ? {} : { unit }),
  });
  const against = "against the outputs of the subject that it is compared with";
  return [
    {
      kind: "text",
      id: "outputs",
      title: "outputs",
      text: (row) => (row.summary.outputs === null ? missing(row) : row.summary.outputs.agree ? "agree" : row.summary.outputs.undecided ? "undecided" : "differ"),
      tone: ({ summary: { outputs } }) => (outputs === null ? null : outputs.agree ? "good" : outputs.undecided ? "warning" : "bad"),
    },
    number("output_max", "output difference", `Largest absolute difference, ${against}; of the output in which it is largest.`, true, (each) => each.max_absolute),
    number("relative_l2", "relative L2", `Relative L2 distance, ${against}; of the output in which it is largest.`, true, (each) => each.relative_l2),
    number("psnr", "PSNR", `Peak signal-to-noise ratio, ${against}; of the output in which it is smallest.`, false, (each) => each.psnr_db, "dB"),
    number("ssim", "SSIM", `Structural similarity, ${against}; of the output in which it is smallest.`, false, (each) => each.ssim),
  ];
}

const accuracyColumns: Column<SubjectRow>[] = [
  {
    kind: "number",
    id: "accuracy",
    title: "accuracy",
    quantity: "share",
    about: "Share of right answers by the labels; mean IoU where the labels are masks.",
    measure: ({ summary: { accuracy } }) => ({
      value: (accuracy?.masks ? accuracy.masks.mean_iou : accuracy?.value) ?? null,
      interval: accuracy?.masks ? null : accuracy?.interval,
      about: accuracy === null ? "" : accuracy.labels !== null ? `${accuracy.labels.rows} rows` : accuracy.masks !== null ? `${accuracy.masks.pixels} pixels` : "",
    }),
  },
  {
    kind: "number",
    id: "accuracy_change",
    title: "accuracy change",
    quantity: "share",
    signed: true,
    about: "Against the baseline, on the same rows, in percentage points.",
    measure: ({ summary: { accuracy } }) => ({ value: accuracy?.change?.value ?? null, interval: accuracy?.change?.interval }),
  },
  {
    kind: "number",
    id: "perplexity",
    title: "perplexity",
    quantity: "plain",
    about: "Of texts: e to the mean over texts of the mean log loss of their tokens.",
    measure: ({ summary: { accuracy } }) => ({ value: accuracy?.perplexity?.value ?? null, about: accuracy?.perplexity === undefined ? "" : `${accuracy.perplexity.texts} texts` }),
  },
  {
    kind: "number",
    id: "perplexity_increase",
    title: "perplexity increase",
    quantity: "share",
    signed: true,
    about: "Against the baseline, on the same texts.",
    measure: ({ summary: { accuracy } }) => ({ value: accuracy?.perplexity?.increase ?? null, interval: accuracy?.perplexity?.interval }),
  },
];

const outlierColumn: TextColumn<SubjectRow> = {
  kind: "text",
  id: "outliers",
  title: "outliers",
  about: "Iterations beyond Tukey's fences: 1.5 (mild) and 3 (severe) interquartile ranges.",
  text: ({ summary: { outliers: o } }) => (o.total === 0 ? MISSING : `${o.mild} mild, ${o.severe} severe${o.removed > 0 ? `, ${o.removed} removed` : ""} of ${o.total}`),
  order: ({ summary: { outliers: o } }) => (o.total === 0 ? null : (o.mild + o.severe) / o.total),
};

const trialsColumn: TextColumn<SubjectRow> = {
  kind: "text",
  id: "trials",
  title: "trials",
  text: ({ summary }) =>
    [[summary.trials_ok, "ok"], [summary.trials_partial, "partial"], [summary.trials_failed, "failed"]]
      .filter(([number]) => (number as number) > 0)
      .map(([number, word]) => `${number} ${word}`)
      .join(", ") || "none",
  tone: ({ summary }) => (summary.trials_failed > 0 ? "bad" : summary.trials_partial > 0 ? "warning" : null),
  note: (row) => (row.summary.trials_failed === 0 ? row.failure : ""), // of those that failed, figures have the reason
  order: ({ summary }) => summary.trials_failed * 1e6 + summary.trials_partial * 1e3 + summary.trials_ok,
};

const leakTones: Record<string, Tone> = { leak: "bad", no_leak: "good" };
const leakColumn: TextColumn<SubjectRow> = {
  kind: "text",
  id: "leak",
  title: "leak",
  text: ({ summary: { leak } }) => (leak === null ? MISSING : wordsOf(leak.verdict)),
  tone: ({ summary: { leak } }) => (leak === null ? null : leakTones[leak.verdict.replace(" ", "_")] ?? "faint"),
  note: ({ summary: { leak } }) => leak?.reason ?? "",
};

const counterQuantities: Record<string, Quantity> = { s: "s", bytes: "bytes", B: "bytes", "items/s": "items/s" };

function counterColumns(rows: SubjectRow[]): Column<SubjectRow>[] {
  const found = new Map<string, { name: string; unit: string }>();
  for (const row of rows) for (const counter of row.summary.counters) found.set(JSON.stringify([counter.name, counter.unit]), counter);
  const all = [...found.values()];
  const find = (subject: RunSubject, name: string, unit: string): Estimate | undefined => subject.counters.find((each) => each.name === name && each.unit === unit);
  return all.map(({ name, unit }) => ({
    kind: "number" as const,
    id: all.filter((each) => each.name === name).length > 1 ? `counter ${name} ${unit}` : `counter ${name}`,
    title: name,
    about: "A counter of the back end.",
    quantity: counterQuantities[unit] ?? "plain",
    measure: (row: SubjectRow) => measureOf(find(row.summary, name, unit), row),
    ...(counterQuantities[unit] === undefined && unit !== "1" && unit !== "" ? { unit } : {}),
  }));
}

function settings(): Column<SubjectRow>[] {
  const text = (id: string, title: string, of: (row: SubjectRow) => string): TextColumn<SubjectRow> => ({ kind: "text", id, title, text: of });
  return [
    text("model", "model", (row) => row.summary.model),
    text("backend", "back end", (row) => row.summary.backend),
    text("device", "device", (row) => row.executed["device"] ?? row.planned?.device ?? ""),
    { ...text("dtype", "dtype", dtypeText), tone: (row) => (isAsAsked(row) ? null : "warning") },
    { kind: "number", id: "batch", title: "batch size", quantity: "count", measure: (row) => ({ value: row.summary.batch_size }) },
    text("threads", "threads", (row) => row.executed["threads"] ?? ""),
  ];
}

function isAsAsked(row: SubjectRow): boolean {
  const executed = row.executed["dtype"];
  return executed === undefined || executed === row.planned?.dtype;
}

// Asked and executed, where they are not the same.
function dtypeText(row: SubjectRow): string {
  const asked = row.planned?.dtype ?? "";
  return isAsAsked(row) ? asked : `${row.executed["dtype"]} (asked: ${asked})`;
}

function modelColumns(): Column<SubjectRow>[] {
  const number = (id: string, title: string, quantity: Quantity, of: (row: SubjectRow) => number | null | undefined): Column<SubjectRow> => ({
    kind: "number", id, title, quantity, measure: (row) => ({ value: of(row) ?? null }),
  });
  return [
    number("size", "model size", "bytes", (row) => row.model?.size_bytes || null),
    number("parameters", "parameters", "count", (row) => row.model?.parameters),
    number("nonzero", "parameters not zero", "count", (row) => row.model?.nonzero_parameters),
  ];
}

const subjectColumn: TextColumn<SubjectRow> = { kind: "text", id: "subject", title: "subject", text: (row) => row.label };

export function runColumns(rows: SubjectRow[], figures: RunFigures | null, choice: BaselineChoice): Column<SubjectRow>[] {
  const { early, late } = metricColumns(rows);
  // Requests overlap under load: they have no latency of one inference after the other, but a table of their own.
  if (rows.every((row) => row.summary.load !== undefined)) {
    const others = early.filter((column) => !column.id.startsWith("latency_"));
    return [subjectColumn, trialsColumn, ...settings(), ...others, ...modelColumns(), ...accuracyColumns, ...outputColumns(rows), ...late, leakColumn, ...counterColumns(rows)];
  }
  const compared = rows.some((row) => row.summary.baseline !== null) || (figures?.ratios.length ?? 0) > 0;
  const at = early.findIndex((column) => column.id === "throughput");
  const split = at < 0 ? early.length : at;
  return [
    subjectColumn,
    trialsColumn,
    ...early.slice(0, split),
    ...(compared ? [speedUpColumn(rows, figures, choice)] : []),
    ...early.slice(split),
    ...accuracyColumns,
    ...outputColumns(rows),
    sampleColumn,
    ...settings(),
    ...modelColumns(),
    ...late,
    outlierColumn,
    leakColumn,
    ...counterColumns(rows),
  ];
}

// What is shown at first: what most people ask about, and what is out of the ordinary.
export function shownAtFirst(columns: Column<SubjectRow>[], rows: SubjectRow[]): Set<string> {
  const shown = new Set(["subject", "speed_up", "n", "accuracy", "perplexity", "perplexity_increase", "outputs", "output_max", "leak", ...shownMetrics]);
  const tail = tails.find((id) => rows.some((row) => (row.summary.metrics[id]?.value ?? null) !== null));
  if (tail !== undefined) shown.add(tail);
  if (rows.some((row) => row.failure !== "" || row.summary.trials_failed + row.summary.trials_partial > 0)) shown.add("trials");
  if (!rows.every(isAsAsked)) shown.add("dtype");
  return new Set(columns.map((column) => column.id).filter((id) => shown.has(id)));
}

export const groupings: Grouping<SubjectRow>[] = [
  { id: "model", label: "model", key: (row) => row.summary.model },
  { id: "backend", label: "back end", key: (row) => row.summary.backend },
  { id: "batch", label: "batch size", key: (row) => String(row.summary.batch_size) },
  { id: "dtype", label: "dtype", key: dtypeText },
  { id: "device", label: "device", key: (row) => row.executed["device"] ?? row.planned?.device ?? "" },
];
