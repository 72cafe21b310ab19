// Each iteration of a subject where it was in its process: warm-up, drifts, outliers and disturbances can be seen.
import type { Distribution, Times, Trial } from "../document.ts";
import type { Option } from "../echarts.ts";
import { count, format } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import type { Cell, ChartPicture, DataTable, Picture } from "../picture.ts";
import { axis, tooltip } from "../picture.ts";
import { processName } from "./latency_lanes.ts";
import { box, cloud, filled, marks } from "./marks.ts";
import type { CloudLook } from "./marks.ts";
import { choice } from "./profiled.ts";
import { ends, isWide, scaleOf, tickText, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { byStretches, thinnedText } from "./thin.ts";
import { disturbances, quantile, sentences, subjectControl, trialsOf } from "./trials.ts";
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
  p99_s: number | null; // of the document
}

// Up to what all but the slowest take; to the slowest; logarithmic.
type Reach = "most" | "all" | "log";

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

export function timeline(m: Measured): Picture[] {
  const subjects = m.subjects.map((each) => each.index).filter((subject) => trialsOf(m.run, subject).some((trial) => (trial.samples?.latency_s.length ?? 0) > 1));
  if (subjects.length === 0) return [];
  let subject = subjects[0] as number;
  let process: number | null = null;
  let bySecond = true;
  let view: [number, number] | null = null; // on the axis across; null: all
  const every = (): Row[] => rowsOf(m, subject).filter((row) => process === null || row.trial.process === process);
  const shown = (): Row[] => every().slice(0, mostProcesses);
  let reach = usualReach(every());
  let made: { of: string; plot: Plot } | null = null;
  const plot = (): Plot => {
    const of = [subject, process, bySecond, reach].join();
    if (made?.of !== of) made = { of, plot: plotOf(shown(), bySecond, reach) };
    return made.plot;
  };
  const processes = [...new Set(m.run.trials.map((trial) => trial.process))].sort((a, b) => a - b);
  // A thinned record has lost the numbers of its iterations.
  const numbered = m.run.trials.every((trial) => trial.samples === undefined || trial.samples.latency_s.length >= trial.iterations);
  const reaches = choice("Axis", [["most", "Up to p99"], ["all", "All, linear"], ["log", "All, logarithmic"]], (value) => (reach = value as Reach));
  reaches.value = reach;
  const picture: ChartPicture = {
    kind: "chart",
    id: "timeline",
    title: "Latency over time within each process",
    short: "Over time",
    reads: "One point per iteration; processes are overlaid and can be switched off. Hollow points on the shaded area are warm-up and in no figure; triangles are outliers beyond Tukey's fences of their process. Zooming in shows more of the stored points.",
    note: () => notes(plot(), view, every().length),
    controls: [
      subjectControl(subjects, m.names, null, (chosen) => {
        subject = chosen ?? subject;
        reaches.value = reach = usualReach(every());
      }),
      choice("Process", [["", "all"], ...processes.map((each): [string, string] => [String(each), String(each + 1)])], (value) => (process = value === "" ? null : Number(value))),
      choice("Against", [["seconds", "Time since its start"], ...(numbered ? [["number", "Number of the iteration"] as [string, string]] : [])], (value) => (bySecond = value === "seconds")),
      reaches,
    ],
    data: () => table(every(), m.names[subject] ?? ""),
    height: (width) => (width < 620 ? 320 : 380),
    option: (look, width) => {
      view = null;
      return option(plot(), look, width);
    },
    detail: (from, to, look) => {
      view = [from, to];
      const drawn = plot();
      return [{}, ...drawn.series.map(({ row, all }) => pointsOf(row, kept(inView(all, view), drawn.series.length), drawn, look))];
    },
    legend: (look) => shown().map((row) => ({ name: row.name, look: lookOf(row, look) })),
  };
  return [picture];
}

interface Plot {
  series: { row: Row; all: Iteration[]; thinned: Iteration[] }[];
  bySecond: boolean;
  scale: Scale;
  ceiling_s: number; // slower ones are drawn at the upper edge
}

// One slow iteration, often the first of warm-up, would press all others to the bottom.
function usualReach(rows: Row[]): Reach {
  const all = rows.flatMap((row) => [...(row.trial.warmup_samples?.latency_s ?? []), ...(row.trial.samples?.latency_s ?? [])]);
  const [low, high] = ends(all);
  const ceiling = ceilingOf(rows);
  if (ceiling === null || high - low <= 3 * (ceiling - low)) return "all";
  return isWide(rows.map((row) => row.p99_s)) ? "log" : "most";
}

// The slowest p99 of any process.
function ceilingOf(rows: Row[]): number | null {
  const known = rows.flatMap((row) => (row.p99_s === null ? [] : [row.p99_s]));
  return known.length === 0 ? null : Math.max(...known);
}

function plotOf(rows: Row[], bySecond: boolean, reach: Reach): Plot {
  const series = rows.map((row) => {
    const all = iterationsOf(row.trial, row.fences, bySecond);
    return { row, all, thinned: kept(all, rows.length) };
  });
  const [low, high] = ends(series.flatMap(({ all }) => all.map((each) => each.latency_s)));
  const ceiling = reach === "most" ? ceilingOf(rows) : null;
  const scale = scaleOf("s", ceiling === null ? [low, high] : [low, Math.min(high, ceiling + (ceiling - low) * 0.15)], { log: reach === "log" });
  return { series, bySecond, scale, ceiling_s: scale.high * scale.unit.factor };
}

function inView(all: Iteration[], view: [number, number] | null): Iteration[] {
  return view === null ? all : all.filter((each) => each.at >= view[0] && each.at <= view[1]);
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
      return { trial, disturbed, name: processName(trial.process, disturbed.length > 0), ...figuresOf(m, of?.processes.find((each) => each.process === trial.process)) };
    });
}

function figuresOf(m: Measured, process: Distribution["processes"][number] | undefined): Pick<Row, "fences" | "p99_s"> {
  return { fences: process?.fences_s ?? null, p99_s: process === undefined ? null : quantile(m.figures?.process_levels ?? [], process.quantiles_s, 0.99) };
}

function kept(iterations: Iteration[], rows: number): Iteration[] {
  const most = Math.max(20, Math.floor(mostPoints / Math.max(1, rows)));
  return byStretches(iterations.length, (index) => (iterations[index] as Iteration).latency_s, most).map((index) => iterations[index] as Iteration);
}

function notes({ series, ceiling_s }: Plot, view: [number, number] | null, all: number): string {
  let [drawn, recorded, timed, beyond, slowest] = [0, 0, 0, 0, 0];
  for (const { row, all: iterations, thinned } of series) {
    const seen = inView(iterations, view);
    drawn += (view === null ? thinned : kept(seen, series.length)).length;
    recorded += seen.length;
    timed += view === null ? row.trial.iterations + (row.trial.warmup_samples?.latency_s.length ?? 0) : seen.length;
    for (const each of seen) {
      if (each.latency_s > ceiling_s) beyond += 1;
      slowest = Math.max(slowest, each.latency_s);
    }
  }
  const disturbed = series.filter(({ row }) => row.disturbed.length > 0).map(({ row }) => `${row.name.replace(" ⚠ disturbed", "")}: ${row.disturbed.join("; ")}`);
  return sentences(
    beyond > 0 ? `${count(beyond, "slower iteration is an arrow", "slower iterations are arrows")} at the upper edge; the slowest took ${format("s", slowest)}.` : "",
    disturbed.length > 0 ? `⚠ ${disturbed.slice(0, 4).join(". ")}${disturbed.length > 4 ? `, and ${disturbed.length - 4} more` : ""}.`.replace("..", ".") : "",
    thinnedText(drawn, recorded, timed, "the smallest and largest of each stretch"),
    series.length < all ? `The first ${series.length} of ${all} processes are drawn.` : "",
  );
}

function option(plot: Plot, look: Look, width: number): Option {
  const { series, bySecond, scale } = plot;
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
    series: [warmUpArea(series.some(({ all }) => all[0]?.kind === "warm-up") ? warm : null, look), ...series.map(({ row, thinned }) => pointsOf(row, thinned, plot, look))],
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

function pointsOf(row: Row, iterations: Iteration[], { scale, bySecond, ceiling_s }: Plot, look: Look): Option {
  const { color, symbol } = lookOf(row, look);
  const hollow = { fill: look.panel, stroke: color };
  const looks: Record<Iteration["kind"] | "slower", CloudLook> = {
    timed: filled(symbol, 4.5, color, 0.75),
    "warm-up": { symbol: "circle", size: 5, style: { ...hollow, lineWidth: 1.2 } },
    "mild outlier": { symbol: "triangle", size: 8, style: { ...hollow, lineWidth: 1.3 } },
    "severe outlier": filled("triangle", 10, color, 1),
    slower: filled("arrow", 9, color, 1),
  };
  return cloud(
    row.name,
    iterations,
    (each) => [each.at, Math.min(scale.high, each.latency_s / scale.unit.factor)],
    (each) => looks[each.latency_s > ceiling_s ? "slower" : each.kind],
    (each) =>
      tooltip(row.name, [
        [each.kind === "timed" ? "latency" : each.kind, format("s", each.latency_s, 6)],
        bySecond ? ["begun after", format("s", each.at, 6)] : ["iteration", String(each.at)],
        ...row.disturbed.map((words): [string, string] => ["disturbed", words]),
      ]),
    { z: 3 },
  );
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
