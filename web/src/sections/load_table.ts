// Subjects under load: is the load valid, rates and response times. The answers above say first why one is not.
import type { Estimate, Run, RunSubject, SubjectLoad } from "../document.ts";
import type { Quantity } from "../format.ts";
import { grid } from "./grid.ts";
import type { Column, NumberColumn } from "./grid_model.ts";

export interface LoadRow {
  subject: RunSubject;
  load: SubjectLoad;
}

export function loadRows(run: Run): LoadRow[] {
  return run.subjects.flatMap((subject) => (subject.load === undefined ? [] : [{ subject, load: subject.load }]));
}

// "server, rate 40, poisson"
export function askedText(asked: Record<string, string>): string {
  const plain = ["scenario", "arrivals"];
  return Object.entries(asked)
    .map(([key, value]) => (plain.includes(key) ? value : `${key} ${value}`))
    .join(", ");
}

const ofLoad: [string, string, Quantity][] = [
  ["offered_rate", "offered", "items/s"],
  ["achieved_rate", "achieved", "items/s"],
  ["max_rate", "highest rate", "items/s"],
  ["response_p50", "response p50", "s"],
  ["response_p90", "response p90", "s"],
  ["response_p99", "response p99", "s"],
  ["response_p99_9", "response p99.9", "s"],
  ["response_mean", "response mean", "s"],
  ["response_p95", "response p95", "s"],
  ["response_max", "longest response", "s"],
  ["service_p50", "service p50", "s"],
  ["service_p99", "service p99", "s"],
  ["lag_p50", "lag p50", "s"],
  ["lag_p99", "lag p99", "s"],
  ["late_p99", "lateness p99", "s"],
  ["in_flight_mean", "in flight", "plain"],
  ["in_flight_max", "most in flight", "plain"],
  ["samples_rate", "samples", "items/s"],
  ["failed", "failed", "plain"],
  ["failed_share", "failed share", "share"],
  ["goodput", "goodput", "items/s"],
  ["goodput_share", "good", "share"],
];

const ofGeneration: [string, string, Quantity][] = [
  ...["ttft_p50", "ttft_p90", "ttft_p99", "tpot_p50", "tpot_p90", "tpot_p99", "itl_p50", "itl_p99"].map((id): [string, string, Quantity] => [id, id.replace("_", " ").replace(/^\w+/, (word) => word.toUpperCase()), "s"]),
  ["output_tokens_rate", "tokens per second", "plain"],
  ["output_tokens_mean", "output tokens", "plain"],
  ["prompt_tokens_mean", "prompt tokens", "plain"],
];

type Found = (Estimate & { holds?: boolean }) | undefined;

function figureColumn<Row>([id, title, quantity]: [string, string, Quantity], of: (row: Row, id: string) => Found): NumberColumn<Row> {
  return {
    kind: "number",
    id,
    title,
    quantity,
    measure: (row) => {
      const figure = of(row, id);
      if (figure === undefined) return { value: null, note: "" };
      // What does not hold is no figure of a table: the reason stands instead.
      const holds = figure.holds !== false;
      return { value: holds ? figure.value : null, interval: holds ? figure.interval : null, note: figure.note, about: figure.method };
    },
  };
}

export function loadTable(run: Run): HTMLElement | null {
  const rows = loadRows(run);
  if (rows.length === 0) return null;
  const columns: Column<LoadRow>[] = [
    { kind: "text", id: "subject", title: "subject", text: ({ subject }) => subject.label },
    { kind: "text", id: "asked", title: "how requests came", text: ({ load }) => askedText(load.asked) },
    {
      kind: "text", id: "valid", title: "valid", text: ({ load }) => (load.valid ? "valid" : "not valid"),
      tone: ({ load }) => (load.valid ? "good" : "bad"),
      sub: ({ load }) => load.findings.map((finding) => finding.rule.replaceAll("_", " ")).join(", "),
    },
    ...ofLoad.map((figure) => figureColumn<LoadRow>(figure, ({ load }, id) => load.figures[id])),
  ];
  return grid<LoadRow>({
    caption: "Subjects under load: response times count from when a request should have started",
    columns,
    rows,
    off: new Set(["response_mean", "response_p95", "response_max", "late_p99", "in_flight_max", "samples_rate", "failed_share"]),
    legend: "[low, high]: intervals over worker processes. Response = lag + service. Lateness: infermeter's own part of the lag.",
  });
}

// Which subject failed how.
export function failedTable(run: Run): HTMLElement | null {
  const rows = loadRows(run).filter(({ load }) => load.error_kinds.length > 0);
  const kinds = new Set(rows.flatMap(({ load }) => load.error_kinds.map(({ kind }) => kind)));
  if (rows.length === 0) return null;
  return grid<LoadRow>({
    caption: "Failed requests by class, all processes together",
    columns: [
      { kind: "text", id: "subject", title: "subject", text: ({ subject }) => subject.label },
      ...[...kinds].map((id): Column<LoadRow> => ({ kind: "number", id, title: id, quantity: "count", measure: ({ load }) => ({ value: load.error_kinds.find(({ kind }) => kind === id)?.count ?? 0 }) })),
    ],
    rows,
    legend: "refused: no connection; reset: it ended before the answer; timeout: no answer in time; 4xx, 5xx: the server's status; bad answer: one that cannot be used.",
  });
}

// Of answers that come piece by piece, with and without a load.
function generationFigure(subject: RunSubject, id: string): Found {
  return subject.load?.figures[id] ?? subject.counters.find(({ name }) => name === id);
}

export function generationRows(run: Run): RunSubject[] {
  return run.subjects.filter((subject) => ofGeneration.some(([id]) => generationFigure(subject, id) !== undefined));
}

const kvCache: Column<RunSubject> = {
  kind: "number", id: "kv_cache", title: "KV cache at the full context", quantity: "bytes",
  measure: ({ kv_cache: kept }) => (kept === undefined ? { value: null } : { value: kept.bytes, sub: `${kept.bytes_per_token} B per token, ${kept.context} tokens` }),
};

export function generationTable(run: Run): HTMLElement | null {
  const rows = generationRows(run);
  if (rows.length === 0) return null;
  return grid<RunSubject>({
    caption: "Answers token by token",
    columns: [{ kind: "text", id: "subject", title: "subject", text: ({ label }) => label }, ...ofGeneration.map((figure) => figureColumn(figure, generationFigure)), kvCache],
    rows,
    legend: "TTFT: time to the first token, of a load from the arrival; TPOT: time per output token of an answer; ITL: from one piece to the next. [low, high]: intervals over worker processes.",
  });
}
