// Latency and throughput against the batch size, a line for each model on each back end.
import type { Run } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { quantityOf } from "../format.ts";
import type { Quantity } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { none } from "./figures.ts";
import type { Value } from "./figures.ts";
import { marks, whisker } from "./marks.ts";
import { estimateRows } from "./metric.ts";
import { ends, linearTicks, scaleOf, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { mostSubjects, sentences } from "./trials.ts";
import type { Measured } from "./trials.ts";

export interface Family {
  name: string;
  sizes: { batch: number; subject: number }[]; // ascending
}

// What subjects of a family share is all but the batch size; the names say what tells families apart.
export function families(run: Run, subjects = run.subjects): Family[] {
  const found = new Map<string, { parts: string[]; sizes: Family["sizes"] }>();
  for (const subject of subjects) {
    const planned = run.plan.subjects[subject.index];
    const options = Object.entries({ ...planned?.options, ...planned?.dimensions, ...planned?.batch_axes }).map(([key, value]) => `${key}=${value}`);
    const threads = (planned?.threads ?? 0) > 0 ? `${planned?.threads} threads` : "";
    const parts = [subject.model, subject.backend, planned?.dtype ?? "", planned?.device ?? "", threads, options.sort().join(" ")];
    const key = JSON.stringify([parts, planned?.backend_library ?? ""]);
    const family = found.get(key) ?? { parts, sizes: [] };
    // The same twice, as in a comparison of a build with itself: only the first is on the line.
    if (!family.sizes.some((each) => each.batch === subject.batch_size)) family.sizes.push({ batch: subject.batch_size, subject: subject.index });
    found.set(key, family);
  }
  const several = [...found.values()].filter((family) => family.sizes.length > 1);
  const differ = (index: number): boolean => new Set(several.map((family) => family.parts[index])).size > 1;
  const seen = new Map<string, number>();
  return several.map((family) => {
    const reported = family.parts.filter((part, index) => part !== "" && (differ(index) || index < 2));
    const name = visible(reported.join(" · "));
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return { name: times > 1 ? `${name} (${times})` : name, sizes: family.sizes.sort((a, b) => a.batch - b.batch) };
  });
}

export function batchSizes(m: Measured): Picture[] {
  const all = families(m.run, m.subjects);
  const one = (metric: string, title: string, reads: string): Picture[] => {
    const valueOf = (subject: number): Value => m.run.subjects[subject]?.metrics[metric] ?? none;
    const drawn = all.filter((family) => family.sizes.filter(({ subject }) => valueOf(subject).value !== null).length > 1);
    if (drawn.length === 0) return [];
    let log = true;
    const shown = drawn.slice(0, mostSubjects);
    const picture: ChartPicture = {
      kind: "chart",
      id: `batch-${metric}`,
      title,
      reads: `${reads} Whiskers are the intervals of the estimates.`,
      note: () => sentences(shown.length < drawn.length ? `The first ${shown.length} of ${drawn.length} lines are drawn.` : ""),
      controls: [
        {
          label: "Axes",
          choices: [
            { value: "log", label: "Both logarithmic" },
            { value: "linear", label: "Both linear" },
          ],
          value: "log",
          change: (value) => (log = value === "log"),
        },
      ],
      data: () => table(drawn, metric, valueOf),
      height: (width) => (width < 620 ? 320 : 360),
      option: (look, width) => option(shown, valueOf, quantityFor(m.run, metric), log, look, width),
      legend: (look) => shown.map((family, index) => ({ name: family.name, look: look.series(index) })),
    };
    return [picture];
  };
  return [
    ...one("latency_p50", "Latency (median) against batch size", "If latency rises in proportion to batch size, batching gains nothing."),
    ...one("throughput", "Throughput against batch size", "Where a line is level, larger batches gain nothing."),
  ];
}

function quantityFor(run: Run, metric: string): Quantity {
  return quantityOf(run.subjects.find((subject) => subject.metrics[metric] !== undefined)?.metrics[metric]?.unit ?? "s");
}

type ValueOf = (subject: number) => Value;

function option(shown: Family[], valueOf: ValueOf, quantity: Quantity, log: boolean, look: Look, width: number): Option {
  const values = shown.flatMap((family) => family.sizes.flatMap(({ subject }) => [valueOf(subject).value, valueOf(subject).interval?.low, valueOf(subject).interval?.high]));
  const scale = scaleOf(quantity, values, { log, zero: !log });
  const batches = [...new Set(shown.flatMap((family) => family.sizes.map(({ batch }) => batch)))].sort((a, b) => a - b);
  const [low, high] = ends(batches);
  const ticks = batches.length <= 12 ? batches : linearTicks(low, high, 8);
  const title = quantity === "s" ? "latency" : "throughput";
  return {
    grid: { left: 66, right: 20, top: 14, bottom: 48 },
    xAxis: axis(look, "batch size", {
      type: log ? "log" : "value",
      min: log ? low / 1.15 : 0,
      max: log ? high * 1.15 : high * 1.04,
      axisTick: { customValues: ticks, lineStyle: { color: look.line } },
      axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, customValues: ticks, formatter: (tick: number) => String(Math.round(tick)) },
    }),
    yAxis: valueAxis(look, title, scale, width < 620 ? 240 : 290, { nameGap: 46 }, true),
    tooltip: { trigger: "item" },
    series: shown.flatMap((family, index) => lineOf(family, index, valueOf, scale, quantity, look)),
  };
}

function lineOf(family: Family, index: number, valueOf: ValueOf, scale: Scale, quantity: Quantity, look: Look): Option[] {
  const own = look.series(index);
  const there = family.sizes.filter(({ subject }) => valueOf(subject).value !== null);
  const at = ({ batch, subject }: Family["sizes"][number]): [number, number] => [batch, (valueOf(subject).value as number) / scale.unit.factor];
  const tip = ({ batch, subject }: Family["sizes"][number]): HTMLElement =>
    tooltip(family.name, [["batch size", String(batch)], ...estimateRows(quantity === "s" ? "latency p50" : "throughput", quantity, valueOf(subject))]);
  return [
    {
      type: "line",
      name: family.name,
      data: there.map(at),
      symbol: own.symbol,
      symbolSize: 8,
      showAllSymbol: true,
      lineStyle: { color: own.color, type: own.dash, width: 1.8 },
      itemStyle: { color: own.color },
      tooltip: { formatter: (hit: { dataIndex: number }) => tip(there[hit.dataIndex] as Family["sizes"][number]) },
      z: 3,
    },
    marks(
      family.name,
      there.filter(({ subject }) => valueOf(subject).interval !== null),
      at,
      ({ batch, subject }, place) => {
        const between = valueOf(subject).interval;
        return between === null ? [] : whisker("y", place(batch, between.low / scale.unit.factor), place(batch, between.high / scale.unit.factor), { stroke: own.color, lineWidth: 1.5 });
      },
      null,
      { z: 2 },
    ),
  ];
}

function table(all: Family[], metric: string, valueOf: ValueOf): DataTable {
  const unit = metric === "throughput" ? "items/s" : "s";
  return {
    columns: [
      { title: "subjects", numeric: false },
      { title: "batch size", numeric: true },
      { title: `${metric}, ${unit}`, numeric: true },
      { title: "low", numeric: true },
      { title: "high", numeric: true },
      { title: "values", numeric: true },
      { title: "processes", numeric: true },
    ],
    rows: all.flatMap((family) =>
      family.sizes.map(({ batch, subject }) => {
        const value = valueOf(subject);
        return [family.name, batch, value.value, value.interval?.low ?? null, value.interval?.high ?? null, value.n ?? null, value.processes ?? null];
      }),
    ),
  };
}
