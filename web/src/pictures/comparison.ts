// The answer to a run's question: each candidate's estimates with their intervals against the margin, and all pairs.
import type { Comparison, Direction, ExploratoryComparison, Interval, PrimaryComparison, Part } from "../document.ts";
import { count, digits, givenPercent, percent } from "../format.ts";
import type { Look } from "../look.ts";
import type { Option } from "../echarts.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { tooltip } from "../picture.ts";
import { shapes } from "../signs.ts";
import { changeShort, changeText, directionTone, directionWord, effectAxis, isTime, isTurned, marginEnds, worseBy } from "./effects.ts";
import { isNarrow, laneFrame, laneHeight, lanesHeight, signPlace } from "./lanes.ts";
import type { Lane } from "./lanes.ts";
import { badge, box, diamond, line, marks, points, whisker } from "./marks.ts";
import { metricTitle } from "./metric.ts";
import { domain, ends, valueAxis } from "./scale.ts";
import { byStretches, jitter } from "./thin.ts";
import { measured, sentences } from "./trials.ts";

export interface Row {
  compared: PrimaryComparison | ExploratoryComparison;
  direction: Direction | null; // null: exploratory, no verdict
}

interface Forest {
  lanes: Lane[];
  rows: { at: number; row: Row }[]; // lanes that are no headings
}

// Per candidate its question's metric, then the others.
export function rowsOf(comparison: Comparison, all: boolean): Row[] {
  return comparison.primary.flatMap((primary) => [
    { compared: primary, direction: primary.direction },
    ...(all ? comparison.exploratory.filter((each) => each.candidate === primary.candidate && each.baseline === primary.baseline) : []).map((compared) => ({ compared, direction: null })),
  ]);
}

function forest(rows: Row[], names: string[]): Forest {
  const several = new Set(rows.map((row) => row.compared.candidate)).size > 1;
  const single = rows.every((row) => row.direction !== null);
  const result: Forest = { lanes: [], rows: [] };
  rows.forEach((row, index) => {
    const { compared } = row;
    const candidate = names[compared.candidate] ?? "";
    if (several && !single && rows[index - 1]?.compared.candidate !== compared.candidate) result.lanes.push({ text: candidate, heading: true });
    result.rows.push({ at: result.lanes.length, row });
    result.lanes.push({ text: several && single ? candidate : metricTitle(compared.metric), after: changeShort(compared, compared.estimate, compared.interval), ...(row.direction === null ? {} : { word: directionWord(row.direction, compared.metric) }) });
  });
  return result;
}

const mostRows = 40;
const mostPoints = 2400;
const height = 34;

// What the axis has to hold.
function extent(rows: Row[], margin: number): [number, number] {
  const values = rows.flatMap(({ compared }) => [
    compared.estimate,
    compared.interval?.low ?? null,
    compared.interval?.high ?? null,
    ...compared.differences,
  ].filter((value): value is number => value !== null).map((value) => worseBy(compared, value)));
  const [low, high] = ends([...values, 0, -100 * margin, 100 * margin]);
  return [low, high];
}

// One metric that changes by half would press the others to the zero line: then the question's alone is shown first.
export function startsWithAll(comparison: Comparison, margin: number): boolean {
  const width = ([low, high]: [number, number]): number => high - low;
  return width(extent(rowsOf(comparison, true), margin)) <= 6 * width(extent(rowsOf(comparison, false), margin));
}

export function comparison(part: Part): Picture[] {
  const m = measured(part);
  const answer = m?.run.comparison ?? null;
  if (m === null || answer === null) return [];
  const margin = m.run.plan.question?.margin ?? 0;
  if (!answer.primary.some((each) => each.estimate !== null)) return [];
  let all = answer.exploratory.length > 0 && startsWithAll(answer, margin);
  const shown = (): Row[] => rowsOf(answer, all).slice(0, mostRows);
  const baselines = [...new Set(answer.primary.map((each) => m.names[each.baseline] ?? ""))];
  const candidates = [...new Set(answer.primary.map((each) => each.candidate))];
  const whom = candidates.length === 1 ? (m.names[candidates[0] as number] ?? "") : `${candidates.length} candidates`;
  const picture: ChartPicture = {
    kind: "chart",
    id: "comparison",
    short: "Changes",
    title: `Change of ${whom} against ${baselines.length === 1 ? baselines[0] : `${baselines.length} baselines`}`,
    reads:
      (answer.paired
        ? "Each pale point is one pair of processes, the diamond is the estimate over all pairs, the line its interval."
        : "The diamond is the estimate over the processes of both runs, the line its interval, which does not cover what changed between the runs.") +
      " An interval that excludes zero shows a direction" +
      (margin > 0 ? `; one inside the band is a difference below the margin of ${givenPercent(margin)}.` : "."),
    note: () => notes(answer, m.names, rowsOf(answer, all).length),
    data: () => table(rowsOf(answer, true), m.names),
    height: (width) => lanesHeight(forest(shown(), m.names).lanes.length, width, height),
    option: (look, width) => option(forest(shown(), m.names), m.names, margin, look, width),
    legend: (look) => [
      ...(answer.paired ? [{ name: pairName, look: { color: look.muted, symbol: "circle" as const, dash: [0, 40] as [number, number] } }] : []),
      { name: estimateName, look: { color: look.text, symbol: "diamond", dash: "solid" } },
    ],
  };
  if (answer.exploratory.length > 0) {
    picture.controls = [
      {
        label: "Metrics",
        choices: [
          { value: "all", label: "All" },
          { value: "question", label: "The question's" },
        ],
        value: all ? "all" : "question",
        change: (value) => (all = value === "all"),
      },
    ];
  }
  return [picture];
}

const pairName = "Pairs";
const estimateName = "Estimate with its interval";

function option(plot: Forest, names: string[], margin: number, look: Look, width: number): Option {
  const frame = laneFrame(plot.lanes, look, width);
  const rows = plot.rows.map((each) => each.row);
  const span = domain(...extent(rows, margin));
  const compared = rows.map((row) => row.compared);
  const times = compared.every((each) => isTime(each.metric));
  const turned = isNarrow(width) ? "← better by · % · worse by →" : "← better by     % of the baseline's value     worse by →";
  const title = isTurned(compared) ? turned : isNarrow(width) ? (times ? "← faster · change, % · slower →" : "← better · change, % · worse →") : `← ${times ? "faster" : "better"}     change, % of the baseline's value     ${times ? "slower" : "worse"} →`;
  return {
    grid: frame.grid,
    xAxis: effectAxis(compared, valueAxis(look, title, { unit: { name: "", factor: 1 }, log: false, ...span }, frame.room)),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marginBand(plot, margin, look),
      pairPoints(plot, names, look, width),
      marks(
        estimateName,
        plot.rows.filter(({ row }) => row.compared.estimate !== null),
        ({ at, row }) => [worseBy(row.compared, row.compared.estimate as number), at],
        ({ at, row }, place) => estimateShapes(row, at, place, look),
        ({ row }) => tip(row, names),
        { z: 4 },
      ),
      verdictSigns(plot, names, look, width),
    ],
  };
}

// The band of each lane, for metrics of which more is better have another one; and the line at zero through all.
function marginBand(plot: Forest, margin: number, look: Look): Option {
  return marks(
    "Margin",
    plot.rows,
    ({ at }) => [0, at],
    ({ at, row }, place) => {
      const [low, high] = marginEnds(row.compared, margin);
      const [a, b, zero] = [place(low, at - 0.5), place(high, at + 0.5), place(0, at)];
      return [box(a.x, a.y, b.x, b.y, { fill: look.accent, opacity: margin > 0 ? 0.14 : 0 }), line(zero.x, a.y, zero.x, b.y, { stroke: look.text, lineWidth: 1 })];
    },
    null,
    { z: 1 },
  );
}

function pairPoints(plot: Forest, names: string[], look: Look, width: number): Option {
  const most = Math.max(20, Math.floor(mostPoints / Math.max(1, plot.rows.length)));
  const items = plot.rows.flatMap(({ at, row }) => {
    const { differences } = row.compared;
    return byStretches(differences.length, (index) => differences[index] as number, most).map((index) => ({ at, row, index, value: differences[index] as number }));
  });
  return points(
    pairName,
    items,
    ({ at, row, index, value }) => [worseBy(row.compared, value), at + (jitter(index) * 18) / laneHeight(width, height)],
    ({ row, index, value }) =>
      tooltip(`Pair ${index + 1} of ${row.compared.differences.length}`, [
        [names[row.compared.candidate] ?? "", changeText(row.compared, value)],
        ["metric", metricTitle(row.compared.metric)],
      ]),
    { symbolSize: 5, itemStyle: { color: look.muted, opacity: 0.45 }, z: 2 },
  );
}

const equal = "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1ZM4.4 5.4h7.2v1.7H4.4Zm0 3.5h7.2v1.7H4.4Z";

// Beside the figures, where it covers none of them.
function verdictSigns(plot: Forest, names: string[], look: Look, width: number): Option {
  return marks(
    "Verdict",
    plot.rows.filter(({ row }) => row.direction !== null),
    ({ at }) => [0, at],
    ({ at, row }, place, area) => {
      const middle = signPlace(area, place(0, at).y, width);
      return directionShape(row.direction as Direction, middle.x, middle.y, look);
    },
    ({ row }) => tip(row, names),
    { z: 5, clip: false },
  );
}

export function directionShape(direction: Direction, x: number, y: number, look: Look): Option[] {
  const color = direction === "faster" ? look.good : direction === "slower" ? look.warning : look.muted;
  const path = direction === "equivalent" ? equal : shapes[directionTone[direction]];
  return [badge(path, x, y, 16, { fill: color })];
}

function estimateShapes(row: Row, at: number, place: (x: number, y: number) => { x: number; y: number }, look: Look): Option[] {
  const { compared } = row;
  const middle = place(worseBy(compared, compared.estimate as number), at);
  const ofInterval = (interval: Interval): Option[] =>
    whisker("x", place(worseBy(compared, interval.low), at), place(worseBy(compared, interval.high), at), { stroke: look.text, lineWidth: 2 }, 5);
  return [...(compared.interval === null ? [] : ofInterval(compared.interval)), diamond(middle.x, middle.y, row.direction === null ? 4 : 6, { fill: look.text, stroke: look.panel, lineWidth: 1 })];
}

function tip(row: Row, names: string[]): HTMLElement {
  const { compared } = row;
  const lines: [string, string][] = [
    ["metric", metricTitle(compared.metric)],
    ["estimate", changeText(compared, compared.estimate)],
    ["interval", compared.interval === null ? "none" : `${changeText(compared, compared.interval.low)} … ${changeText(compared, compared.interval.high)}`],
    ["confidence", compared.interval === null ? "–" : percent(compared.interval.confidence)],
    compared.pairs > 0 ? ["pairs", String(compared.pairs)] : ["processes", `${compared.baseline_processes} and ${compared.candidate_processes}`],
    ["p", digits(compared.p, 2)],
  ];
  if (row.direction !== null) lines.unshift(["verdict", directionWord(row.direction, compared.metric)]);
  return tooltip(names[compared.candidate] ?? "", lines);
}

function notes(answer: Comparison, names: string[], rows: number): string {
  const of = (key: "incomplete" | "dropped", text: string): string => {
    const whom = answer.primary.filter((each) => each[key] > 0);
    return whom.length === 0 ? "" : `${whom.map((each) => `${names[each.candidate]}: ${count(each[key], "pair", "pairs")}`).join(", ")} ${text}.`;
  };
  return sentences(
    of("incomplete", "left out because a process failed or was not measured"),
    of("dropped", "left out because a process was disturbed"),
    answer.exploratory.length > 0 ? "Metrics in the second place are exploratory: they decide nothing, and their intervals are not corrected for looking at several." : "",
    rows > mostRows ? `The first ${mostRows} of ${rows} rows are drawn; the data have all of them.` : "",
  );
}

function table(rows: Row[], names: string[]): DataTable {
  const titles = ["estimate, difference of ln (positive: worse)", "low", "high", "confidence", "p", "standard deviation"];
  return {
    columns: [
      ...["candidate", "baseline", "metric", "verdict"].map((title) => ({ title, numeric: false })),
      { title: "pairs", numeric: true },
      ...titles.map((title) => ({ title, numeric: true })),
      { title: "pair differences of ln, in order", numeric: false },
    ],
    rows: rows.map(({ compared, direction }) => [
      names[compared.candidate] ?? "",
      names[compared.baseline] ?? "",
      compared.metric,
      direction === null ? "not asked" : directionWord(direction, compared.metric),
      compared.pairs,
      compared.estimate,
      compared.interval?.low ?? null,
      compared.interval?.high ?? null,
      compared.interval?.confidence ?? null,
      compared.p,
      compared.standard_deviation,
      compared.differences.join(" "),
    ]),
  };
}
