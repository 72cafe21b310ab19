// Each iteration of a subject where it was in its process: warm-up, drifts, outliers and disturbances can be seen.
import type { Part, Times, Trial } from "../document.ts";
import type { Option } from "../echarts.ts";
import { format } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import type { Cell, ChartPicture, DataTable, Picture } from "../picture.ts";
import { axis, tooltip } from "../picture.ts";
import { processName } from "./latency_lanes.ts";
import { box, marks } from "./marks.ts";
import { isWide, scaleOf, tickText, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { byStretches, thinnedText } from "./thin.ts";
import { disturbances, measured, sentences, subjectControl, trialsOf } from "./trials.ts";
import type { Measured } from "./trials.ts";

const mostPoints = 2600;
const mostProcesses = 40;

type Fences = { severe_low: number; mild_low: number; mild_high: number; severe_high: number };

export interface Iteration {
  at: number; // seconds since the trial's start, or its number: warm-up counts down to 0
  latency_s: number;
  kind: "warm-up" | "timed" | "mild outlier" | "severe outlier";
}

interface Row {
  trial: Trial;
  name: string;
  disturbed: string[];
  fences: Fences | null;
}

export function kindOf(latency: number, fences: Fences | null): Iteration["kind"] {
  if (fences === null) return "timed";
  if (latency > fences.severe_high || latency < fences.severe_low) return "severe outlier";
  return latency > fences.mild_high || latency < fences.mild_low ? "mild outlier" : "timed";
}

export function iterationsOf(trial: Trial, fences: Fences | null, bySecond: boolean): Iteration[] {
  const warm = trial.warmup_samples ?? { begin_s: [], latency_s: [] };
  const timed = trial.samples ?? { begin_s: [], latency_s: [] };
  const of = (times: Times, first: number, kind: (latency: number) => Iteration["kind"]): Iteration[] =>
    times.latency_s.map((latency_s, index) => ({ at: bySecond ? (times.begin_s[index] ?? 0) : first + index, latency_s, kind: kind(latency_s) }));
  return [...of(warm, 1 - warm.latency_s.length, () => "warm-up"), ...of(timed, 1, (latency) => kindOf(latency, fences))];
}

export function timeline(part: Part): Picture[] {
  const m = measured(part);
  if (m === null) return [];
  const subjects = m.run.subjects.map((each) => each.index).filter((subject) => trialsOf(m.run, subject).some((trial) => (trial.samples?.latency_s.length ?? 0) > 1));
  if (subjects.length === 0) return [];
  let subject = subjects[0] as number;
  let process: number | null = null;
  let bySecond = true;
  let log = false;
  const every = (): Row[] => rowsOf(m, subject).filter((row) => process === null || row.trial.process === process);
  const shown = (): Row[] => every().slice(0, mostProcesses);
  const processes = [...new Set(m.run.trials.map((trial) => trial.process))].sort((a, b) => a - b);
  // A thinned record has lost the numbers of its iterations.
  const numbered = m.run.trials.every((trial) => trial.samples === undefined || trial.samples.latency_s.length >= trial.iterations);
  const picture: ChartPicture = {
    kind: "chart",
    id: "timeline",
    title: "Latency over time within each process",
    reads: "One point per iteration; processes lie over each other and can be switched off. Hollow points on the shaded area are warm-up and in no figure; triangles are outliers beyond Tukey's fences of their process.",
    note: () => notes(shown(), every().length),
    controls: [
      subjectControl(subjects, m.names, null, (chosen) => (subject = chosen ?? subject)),
      {
        label: "Process",
        choices: [{ value: "", label: "all" }, ...processes.map((each) => ({ value: String(each), label: String(each + 1) }))],
        value: "",
        change: (value) => (process = value === "" ? null : Number(value)),
      },
      {
        label: "Against",
        choices: [{ value: "seconds", label: "Time since its start" }, ...(numbered ? [{ value: "number", label: "Number of the iteration" }] : [])],
        value: "seconds",
        change: (value) => (bySecond = value === "seconds"),
      },
      {
        label: "Axis",
        choices: [
          { value: "linear", label: "Linear" },
          { value: "log", label: "Logarithmic" },
        ],
        value: "linear",
        change: (value) => (log = value === "log"),
      },
    ],
    data: () => table(every(), m.names[subject] ?? ""),
    height: (width) => (width < 620 ? 320 : 380),
    option: (look, width) => option(shown(), bySecond, log, look, width),
    legend: (look) => shown().map((row) => ({ name: row.name, look: lookOf(row, look) })),
  };
  if (isWide(trialsOf(m.run, subject).flatMap((trial) => trial.samples?.latency_s ?? []))) {
    log = true;
    (picture.controls?.[3] as { value: string }).value = "log";
  }
  return [picture];
}

// Triangles are outliers: no process has them.
const symbols = ["circle", "rect", "diamond", "roundRect", "pin"] as const;
function lookOf(row: Row, look: Look): SeriesLook {
  const { process } = row.trial;
  return { ...look.series(process), symbol: symbols[process % symbols.length] as SeriesLook["symbol"], dash: [0, 40] };
}

function rowsOf(m: Measured, subject: number): Row[] {
  const of = m.figures?.distributions.find((each) => each.subject === subject);
  return trialsOf(m.run, subject)
    .filter((trial) => (trial.samples?.latency_s.length ?? 0) + (trial.warmup_samples?.latency_s.length ?? 0) > 0)
    .map((trial) => {
      const disturbed = disturbances(trial);
      return { trial, disturbed, name: processName(trial.process, disturbed.length > 0), fences: of?.processes.find((each) => each.process === trial.process)?.fences_s ?? null };
    });
}

function kept(iterations: Iteration[], rows: number): Iteration[] {
  const most = Math.max(20, Math.floor(mostPoints / Math.max(1, rows)));
  return byStretches(iterations.length, (index) => (iterations[index] as Iteration).latency_s, most).map((index) => iterations[index] as Iteration);
}

function notes(rows: Row[], all: number): string {
  let [drawn, recorded, timed] = [0, 0, 0];
  for (const row of rows) {
    const iterations = iterationsOf(row.trial, row.fences, true);
    const warm = row.trial.warmup_samples?.latency_s.length ?? 0;
    drawn += kept(iterations, rows.length).length;
    recorded += iterations.length;
    timed += row.trial.iterations + warm;
  }
  const disturbed = rows.filter((row) => row.disturbed.length > 0).map((row) => `${row.name.replace(" ⚠ disturbed", "")}: ${row.disturbed.join("; ")}`);
  return sentences(
    disturbed.length > 0 ? `⚠ ${disturbed.slice(0, 4).join(". ")}${disturbed.length > 4 ? `, and ${disturbed.length - 4} more` : ""}.`.replace("..", ".") : "",
    thinnedText(drawn, recorded, timed, "the smallest and largest of each stretch"),
    rows.length < all ? `The first ${rows.length} of ${all} processes are drawn.` : "",
  );
}

function option(rows: Row[], bySecond: boolean, log: boolean, look: Look, width: number): Option {
  const series = rows.map((row) => ({ row, all: iterationsOf(row.trial, row.fences, bySecond) }));
  const scale = scaleOf("s", series.flatMap(({ all }) => all.map((each) => each.latency_s)), { log });
  const [left, right] = [60, 16];
  let [first, last, warm] = bySecond ? [0, 0, 0] : [1, 1, 0.5];
  for (const { all } of series) {
    for (const each of all) {
      first = Math.min(first, each.at);
      last = Math.max(last, each.at);
      if (each.kind === "warm-up" && bySecond) warm = Math.max(warm, each.at);
    }
  }
  const end = bySecond ? last * 1.02 || 1 : last + 1;
  return {
    grid: { left, right, top: 24, bottom: 48 },
    xAxis: axis(look, bySecond ? "since the process began, s" : "iteration (warm-up: up to 0)", {
      type: "value",
      min: bySecond ? 0 : first - 1,
      max: bySecond ? Number(end.toPrecision(3)) : end,
      splitLine: { show: false },
      axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, showMaxLabel: false, formatter: tickText },
      axisLine: { onZero: false, lineStyle: { color: look.line } },
      splitNumber: Math.max(3, Math.floor((width - left - right) / 90)),
      ...(bySecond ? {} : { minInterval: 1 }),
    }),
    yAxis: valueAxis(look, "latency", scale, 340, { nameGap: 42 }, true),
    tooltip: { trigger: "item" },
    series: [warmUpArea(series.some(({ all }) => all[0]?.kind === "warm-up") ? warm : null, look), ...series.map(({ row, all }) => pointsOf(row, kept(all, rows.length), scale, bySecond, look))],
  };
}

// As far as the longest warm-up.
function warmUpArea(until: number | null, look: Look): Option {
  return marks(
    "Warm-up",
    until === null ? [] : [until],
    (end) => [end, 0],
    (end, place, area) => {
      const right = Math.min(area.x + area.width, place(end, 1).x + 3);
      const text = { type: "text", style: { text: "warm-up", x: area.x + 4, y: area.y - 16, fill: look.muted, font: `11px ${look.font}` } };
      return right <= area.x ? [] : [box(area.x, area.y, right, area.y + area.height, { fill: look.muted, opacity: 0.13 }), text];
    },
    null,
    { z: 1, clip: false },
  );
}

function pointsOf(row: Row, iterations: Iteration[], scale: Scale, bySecond: boolean, look: Look): Option {
  const own = lookOf(row, look);
  return {
    type: "scatter",
    name: row.name,
    symbol: own.symbol,
    symbolSize: 4.5,
    itemStyle: { color: own.color, opacity: 0.75 },
    data: iterations.map((each) => ({ value: [each.at, each.latency_s / scale.unit.factor], ...styleOf(each, own.color, look) })),
    tooltip: {
      formatter: (hit: { dataIndex: number }) => {
        const each = iterations[hit.dataIndex] as Iteration;
        return tooltip(row.name, [
          [each.kind === "timed" ? "latency" : each.kind, format("s", each.latency_s, 6)],
          bySecond ? ["begun after", format("s", each.at, 6)] : ["iteration", String(each.at)],
          ...row.disturbed.map((words): [string, string] => ["disturbed", words]),
        ]);
      },
    },
    z: 3,
  };
}

function styleOf(each: Iteration, color: string, look: Look): Option {
  switch (each.kind) {
    case "timed":
      return {};
    case "warm-up":
      return { symbol: "circle", symbolSize: 5, itemStyle: { color: look.panel, borderColor: color, borderWidth: 1.2, opacity: 1 } };
    case "mild outlier":
      return { symbol: "triangle", symbolSize: 8, itemStyle: { color: look.panel, borderColor: color, borderWidth: 1.3, opacity: 1 } };
    case "severe outlier":
      return { symbol: "triangle", symbolSize: 10, itemStyle: { color, opacity: 1 } };
  }
}

function table(rows: Row[], subject: string): DataTable {
  const cells = (row: Row): Cell[][] => iterationsOf(row.trial, row.fences, true).map((each) => [subject, row.trial.process + 1, each.kind, each.at, each.latency_s, row.disturbed.join("; ")]);
  return {
    columns: [
      { title: "subject", numeric: false },
      { title: "process", numeric: true },
      { title: "kind", numeric: false },
      { title: "begun after, s", numeric: true },
      { title: "latency, s", numeric: true },
      { title: "disturbed", numeric: false },
    ],
    rows: rows.flatMap(cells),
  };
}
