// Subjects under load: is the load valid, rates and response times. The answers above say first why one is not.
import type { Run, RunSubject, SubjectLoad } from "../document.ts";
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

const shown: [string, string, Quantity][] = [
  ["offered_rate", "offered", "items/s"],
  ["achieved_rate", "achieved", "items/s"],
  ["max_rate", "highest rate", "items/s"],
  ["response_p50", "response p50", "s"],
  ["response_p90", "response p90", "s"],
  ["response_p99", "response p99", "s"],
  ["response_p99_9", "response p99.9", "s"],
  ["service_p50", "service p50", "s"],
  ["service_p99", "service p99", "s"],
  ["lag_p50", "lag p50", "s"],
  ["lag_p99", "lag p99", "s"],
  ["in_flight_mean", "in flight", "plain"],
  ["failed", "failed", "plain"],
  ["goodput", "goodput", "items/s"],
  ["goodput_share", "good", "share"],
  ["ttft_p50", "TTFT p50", "s"],
  ["ttft_p99", "TTFT p99", "s"],
  ["tpot_p50", "TPOT p50", "s"],
  ["tpot_p99", "TPOT p99", "s"],
  ["itl_p50", "ITL p50", "s"],
  ["itl_p99", "ITL p99", "s"],
  ["output_tokens_rate", "tokens per second", "plain"],
];

function figureColumn([id, title, quantity]: [string, string, Quantity]): NumberColumn<LoadRow> {
  return {
    kind: "number",
    id,
    title,
    quantity,
    measure: ({ load }) => {
      const figure = load.figures[id];
      if (figure === undefined) return { value: null, note: "" };
      // What does not hold is no figure of a table: the reason stands instead.
      return { value: figure.holds ? figure.value : null, interval: figure.holds ? figure.interval : null, note: figure.note, about: figure.method };
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
    ...shown.map(figureColumn),
  ];
  return grid<LoadRow>({
    caption: "Subjects under load: response times count from when a request should have started",
    columns,
    rows,
    legend: "[low, high]: intervals over worker processes. Response = lag + service.",
  });
}
