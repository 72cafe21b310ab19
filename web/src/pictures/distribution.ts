// Where the latencies of each subject, or of each process of one, lie: quantiles of all iterations, and the iterations.
import type { Option } from "../echarts.ts";
import { count, format } from "../format.ts";
import type { Look } from "../look.ts";
import type { ChartPicture, Control, DataTable, Picture } from "../picture.ts";
import { tooltip } from "../picture.ts";
import { beyondText, latencyScale, reachControl, usualReach } from "./latency_axis.ts";
import type { Reach } from "./latency_axis.ts";
import { laneFrame, laneHeight, lanesHeight } from "./lanes.ts";
import { box, cloud, filled, line, marks, nearby, target } from "./marks.ts";
import type { CloudLook, Shape } from "./marks.ts";
import { lanesOf, percentile, recordedOf, timedOf } from "./latency_lanes.ts";
import type { LatencyLane } from "./latency_lanes.ts";
import { valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { byRanks, jitter, thinnedText } from "./thin.ts";
import { leftOut, mostSubjects, samplesOf, sentences, subjectControl } from "./trials.ts";
import type { Measured } from "./trials.ts";

const height = 44;
const mostPoints = 2400;

export function distribution(m: Measured): Picture[] {
  if (m.figures === null || m.figures.distributions.length === 0) return [];
  const figures = m.figures;
  let subject: number | null = null;
  let view: View = null;
  const every = (): LatencyLane[] => lanesOf(m, subject);
  const shown = (): LatencyLane[] => every().slice(0, mostSubjects);
  let reach = usualReach(every());
  const controls: Control[] = [subjectControl(figures.distributions.map((each) => each.subject), m.names, "All subjects, processes pooled", (chosen) => (subject = chosen))];
  controls.push(reachControl(reach, (chosen) => (reach = chosen)));
  const picture: ChartPicture = {
    kind: "chart",
    id: "distribution",
    title: "Distribution of latency",
    short: "Distribution",
    reads: "Points are single iterations. Above them the thin bar spans p5 to p95, the thick one p25 to p75, the long line is the median and the short one p99, of all iterations; those that a row has too few iterations for are left out.",
    note: () => sentences(beyondText(shown(), reach), pointsNote(shown(), view), leftOut(shown().length, every().length)),
    controls,
    data: () => table(every(), subject === null),
    lanes: () => (subject === null ? shown().map((lane) => lane.series) : []),
    height: (width) => lanesHeight(shown().length, width, height),
    option: (look, width) => {
      view = null;
      return option(shown(), reach, look, width);
    },
    detail: (from, to, look, width) => {
      const scale = latencyScale(shown(), reach);
      view = [from * scale.unit.factor, to * scale.unit.factor];
      return [dotsSeries(shown(), view, scale, look, width)];
    },
    legend: (look) => [
      { name: pointName, look: { color: look.series(0).color, symbol: "circle", dash: [0, 40] } },
      { name: quantileName, look: { color: look.series(0).color, symbol: "rect", dash: "solid" } },
    ],
  };
  return [picture];
}

const pointName = "Iterations";
const quantileName = "Quantiles";

function perLane(lanes: LatencyLane[]): number {
  return Math.max(3, Math.floor(mostPoints / Math.max(1, lanes.length)));
}

// Seconds, from … to; null: all.
type View = [number, number] | null;

function inView(lane: LatencyLane, view: View): Float64Array {
  const all = new Float64Array(recordedOf(lane));
  let place = 0;
  for (const trial of lane.trials) {
    all.set(samplesOf(trial), place);
    place += samplesOf(trial).length;
  }
  return view === null ? all : all.filter((value) => value >= view[0] && value <= view[1]);
}

function pointsNote(lanes: LatencyLane[], view: View): string {
  const recorded = lanes.reduce((sum, lane) => sum + recordedOf(lane), 0);
  if (recorded === 0) return "The report contains no single iterations: only their quantiles are drawn.";
  const seen = lanes.map((lane) => (view === null ? recordedOf(lane) : inView(lane, view).length));
  const drawn = seen.reduce((sum, each) => sum + Math.min(perLane(lanes), each), 0);
  const all = seen.reduce((sum, each) => sum + each, 0);
  return thinnedText(drawn, all, view === null ? lanes.reduce((sum, lane) => sum + timedOf(lane), 0) : all, "evenly spaced by rank; each row's minimum and maximum included");
}

function option(lanes: LatencyLane[], reach: Reach, look: Look, width: number): Option {
  const scale = latencyScale(lanes, reach);
  const frame = laneFrame(lanes.map((lane) => ({ text: lane.name })), look, width);
  const shift = 8 / laneHeight(width, height);
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, "latency", scale, frame.room),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      dotsSeries(lanes, null, scale, look, width),
      marks(
        quantileName,
        lanes.map((lane, at) => ({ lane, at })),
        ({ lane, at }) => [(lane.quantiles_s[0] ?? 0) / scale.unit.factor, at],
        ({ lane, at }, place, area) => quantileShapes(lane, at - shift, scale, look, nearby(place, area)),
        ({ lane }) => laneTip(lane),
        { z: 3 },
      ),
    ],
  };
}

function dotsSeries(lanes: LatencyLane[], view: View, scale: Scale, look: Look, width: number): Option {
  const shift = 8 / laneHeight(width, height);
  const looks = lanes.map((lane) => filled("circle", 3.5, look.series(lane.series).color, 0.5));
  const dots = lanes.flatMap((lane, at) => byRanks(inView(lane, view).sort(), perLane(lanes)).map((value, index) => ({ lane, at, value, index })));
  return cloud(
    pointName,
    dots,
    ({ at, value, index }) => [value / scale.unit.factor, at + shift * (1.2 + jitter(index) * 1.7)],
    ({ at }) => looks[at] as CloudLook,
    ({ lane, value }) => tooltip(lane.name, [["one iteration", format("s", value, 6)]]),
    { z: 2 },
  );
}

function quantileShapes(lane: LatencyLane, at: number, scale: Scale, look: Look, place: (x: number, y: number) => { x: number; y: number }): Shape[] {
  const color = look.series(lane.series).color;
  const where = (level: number): { x: number; y: number } | null => {
    const value = percentile(lane, level);
    return value === null ? null : place(value / scale.unit.factor, at);
  };
  const bar = (low: number, high: number, half: number, opacity: number): Shape[] => {
    const [a, b] = [where(low), where(high)];
    return a === null || b === null ? [] : [box(a.x, a.y - half, b.x, a.y + half, { fill: color, opacity })];
  };
  const tick = (level: number, half: number, lineWidth: number, stroke: string): Shape[] => {
    const a = where(level);
    return a === null ? [] : [line(a.x, a.y - half, a.x, a.y + half, { stroke, lineWidth })];
  };
  const [low, high] = [where(0), where(1)];
  const catcher = low === null || high === null ? [] : [target(low.x, low.y - 9, high.x, high.y + 9)];
  return [...catcher, ...bar(0.05, 0.95, 2, 0.55), ...bar(0.25, 0.75, 6, 0.75), ...tick(0.99, 5, 2, color), ...tick(0.5, 9, 2.5, look.text)];
}

function laneTip(lane: LatencyLane): HTMLElement {
  const at = (level: number): string => format("s", percentile(lane, level), 5);
  const rows: [string, string][] = [["n", count(lane.n, "iteration", "iterations")]];
  for (const [name, level] of [["smallest", 0], ["p5", 0.05], ["p25", 0.25], ["median", 0.5], ["p75", 0.75], ["p95", 0.95], ["p99", 0.99], ["largest", 1]] as const) {
    if (percentile(lane, level) !== null) rows.push([name, at(level)]);
  }
  for (const words of lane.disturbed) rows.push(["disturbed", words]);
  return tooltip(lane.name, rows);
}

function table(lanes: LatencyLane[], pooled: boolean): DataTable {
  const levels = lanes[0]?.levels ?? [];
  return {
    columns: [{ title: pooled ? "subject" : "process", numeric: false }, { title: "iterations", numeric: true }, ...levels.map((level) => ({ title: `quantile ${level}, s`, numeric: true }))],
    rows: lanes.map((lane) => [lane.name, lane.n, ...lane.quantiles_s]),
  };
}
