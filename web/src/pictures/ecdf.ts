// The share of iterations that took at most so long, or, for the tail, longer.
import type { Option } from "../echarts.ts";
import { count, format } from "../format.ts";
import type { Look } from "../look.ts";
import type { ChartPicture, Control, DataTable, LegendItem, Picture } from "../picture.ts";
import { axis, tooltip } from "../picture.ts";
import { beyondText, latencyScale, reachControl, usualReach } from "./latency_axis.ts";
import type { Reach } from "./latency_axis.ts";
import { lanesOf, percentile } from "./latency_lanes.ts";
import type { LatencyLane } from "./latency_lanes.ts";
import { line, marks } from "./marks.ts";
import { valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { leftOut, mostSubjects, sentences, subjectControl } from "./trials.ts";
import type { Measured } from "./trials.ts";

const guides = [0.5, 0.9, 0.95, 0.99];

export function ecdf(m: Measured): Picture[] {
  if (m.figures === null || !m.figures.distributions.some((each) => each.n > 1)) return [];
  const figures = m.figures;
  let subject: number | null = null;
  let tail = false;
  const every = (): LatencyLane[] => lanesOf(m, subject).filter((lane) => lane.n > 0);
  const shown = (): LatencyLane[] => every().slice(0, mostSubjects);
  let reach = usualReach(every());
  const reachOf = reachControl(reach, (chosen) => (reach = chosen));
  const controls: Control[] = [
    subjectControl(figures.distributions.map((each) => each.subject), m.names, "All subjects, processes pooled", (chosen) => (subject = chosen)),
    {
      label: "Share",
      choices: [
        { value: "cumulative", label: "Took this long or less" },
        { value: "tail", label: "Took longer than this (tail)" },
      ],
      value: "cumulative",
      change: (value) => {
        tail = value === "tail";
        // Up to p99 there is no tail.
        if (tail && reach === "p99") reachOf.value = reach = "log";
      },
    },
  ];
  controls.push(reachOf);
  const picture: ChartPicture = {
    kind: "chart",
    id: "ecdf",
    title: "Share of iterations by latency",
    short: "Share by latency",
    reads: "Follow a dotted line to a curve and down to read that percentile: at p90, 90 % of the iterations took this long or less. A symbol stands where there are enough iterations for the percentile. A curve further left is faster; a long flat end is a slow tail.",
    note: () => sentences("The curves join quantiles of all iterations.", beyondText(shown(), reach), tail ? "The largest value of each has no share beyond it, and is not drawn." : "", leftOut(shown().length, every().length)),
    controls,
    data: () => table(every(), subject === null),
    height: () => 400,
    option: (look, width) => option(shown(), tail, reach, look, width),
    legend: (look) => shown().map((lane): LegendItem => ({ name: lane.name, look: look.series(lane.series) })),
  };
  return [picture];
}

function option(lanes: LatencyLane[], tail: boolean, reach: Reach, look: Look, width: number): Option {
  const [left, right] = [52, 40];
  const room = width - left - right;
  const scale = latencyScale(lanes, reach);
  const least = Math.min(...lanes.flatMap((lane) => lane.levels.filter((level) => level < 1).map((level) => 100 * (1 - level))), 1);
  const share = (level: number): number => (tail ? 100 * (1 - level) : 100 * level);
  const ticks = tail ? [100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.01, 0.001].filter((tick) => tick >= least * 0.99) : [0, 25, 50, 75, 100];
  return {
    grid: { left, right, top: 14, bottom: 48 },
    xAxis: valueAxis(look, "latency", scale, room),
    yAxis: axis(look, tail ? "took longer, % of iterations" : "took this long or less, %", {
      type: tail ? "log" : "value",
      min: tail ? least * 0.9 : 0,
      max: 100,
      nameGap: 36,
      axisTick: { show: false, customValues: ticks },
      axisLabel: { color: look.muted, fontSize: 12, customValues: ticks, formatter: (tick: number) => String(Number(tick.toPrecision(3))) },
    }),
    tooltip: { trigger: "item" },
    series: [guideLines(share, scale, look), ...lanes.map((lane) => curve(lane, scale, share, tail, look))],
  };
}

function guideLines(share: (level: number) => number, scale: Scale, look: Look): Option {
  return marks(
    "Percentiles",
    guides,
    (level) => [scale.low, share(level)],
    (level, place, area) => {
      const { y } = place(scale.low, share(level));
      const text = { type: "text", style: { text: `p${100 * level}`, x: area.x + area.width + 5, y: y - 6, fill: look.muted, font: `10.5px ${look.font}` } };
      const isTight = level === 0.95 && area.height < 260; // p99 is too near
      return [line(area.x, y, area.x + area.width, y, { stroke: look.muted, lineWidth: 1, lineDash: [1.5, 3] }), ...(isTight ? [] : [text])];
    },
    null,
    { z: 1, clip: false },
  );
}

// Symbols stand at the percentiles of the guides.
function curve(lane: LatencyLane, scale: Scale, share: (level: number) => number, tail: boolean, look: Look): Option {
  const own = look.series(lane.series);
  const isPercentile = (level: number): boolean => percentile(lane, level) !== null;
  const places = lane.levels.map((level, index) => ({ level, value: lane.quantiles_s[index] as number })).filter(({ level }) => !tail || level < 1);
  return {
    type: "line",
    name: lane.name,
    data: places.map(({ level, value }) => [value / scale.unit.factor, share(level)]),
    showSymbol: true,
    showAllSymbol: true,
    symbol: (_: unknown, hit: { dataIndex: number }) => {
      const place = places[hit.dataIndex];
      return place !== undefined && guides.includes(place.level) && isPercentile(place.level) && place.value <= scale.high * scale.unit.factor ? own.symbol : "none";
    },
    symbolSize: 8,
    lineStyle: { color: own.color, type: own.dash, width: 2 },
    itemStyle: { color: own.color },
    tooltip: {
      formatter: (hit: { dataIndex: number }) => {
        const { level, value } = places[hit.dataIndex] as { level: number; value: number };
        return tooltip(lane.name, [
          [isPercentile(level) ? `p${Number((100 * level).toPrecision(6))}` : `${Number((100 * level).toPrecision(6))} % of these`, format("s", value, 5)],
          ["n", count(lane.n, "iteration", "iterations")],
          ...lane.disturbed.map((words): [string, string] => ["disturbed", words]),
        ]);
      },
    },
    z: 3,
  };
}

function table(lanes: LatencyLane[], pooled: boolean): DataTable {
  return {
    columns: [
      { title: pooled ? "subject" : "process", numeric: false },
      { title: "share of iterations", numeric: true },
      { title: "latency, s", numeric: true },
      { title: "iterations", numeric: true },
    ],
    rows: lanes.flatMap((lane) => lane.levels.map((level, index) => [lane.name, level, lane.quantiles_s[index] ?? null, lane.n])),
  };
}
