// What is gained for what: accuracy, error, memory or size against latency, and the front of what nothing beats.
import { shortened, visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { format } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, Control, DataTable, LegendItem, Picture } from "../picture.ts";
import { figuresOf } from "./figures.ts";
import type { Figure, Value } from "./figures.ts";
import { line, marks, whisker } from "./marks.ts";
import { estimateRows } from "./metric.ts";
import { domain, isWide, scaleOf, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { leftOut, sentences } from "./trials.ts";
import type { Measured } from "./trials.ts";

interface Point {
  subject: number;
  x: Value;
  y: Value;
  size: number | null;
}

const against = ["accuracy", "output_error", "memory_peak", "device_memory_peak", "model_size"];
const mostPoints = 200;
const mostNames = 40;

export function pareto(m: Measured): Picture[] {
  if (m.subjects.length < 3) return [];
  const figures = figuresOf(m);
  const latency = figures.find((figure) => figure.id === "latency_p50");
  const choices = against.flatMap((id) => figures.filter((figure) => figure.id === id));
  const [firstChoice] = choices;
  if (latency === undefined || firstChoice === undefined) return [];
  const batches = [...new Set(m.subjects.map((subject) => subject.batch_size))].sort((a, b) => a - b);
  let [figure, batch]: [Figure, number] = [firstChoice, batches[0] ?? 1];
  const every = (): Point[] => pointsOf(m, latency, figure, batch);
  const shown = (): Point[] => every().slice(0, mostPoints);
  const drawn = batches.find((each) => choices.some((choice) => pointsOf(m, latency, choice, each).length > 2));
  if (drawn === undefined) return [];
  batch = drawn;
  figure = choices.find((choice) => pointsOf(m, latency, choice, drawn).length > 2) ?? figure;
  const controls: Control[] = [{ label: "Against", choices: choices.map((each) => ({ value: each.id, label: each.title })), value: figure.id, change: (value) => (figure = choices.find((each) => each.id === value) ?? figure) }];
  if (batches.length > 1) controls.push({ label: "Batch size", choices: batches.map((each) => ({ value: String(each), label: String(each) })), value: String(batch), change: (value) => (batch = Number(value)) });
  const placed = m.variants !== null;
  const picture: ChartPicture = {
    kind: "chart",
    id: "pareto",
    title: "Trade-offs: what each subject gives for its latency",
    short: "Trade-offs",
    reads: `Left is faster. The area of a point is the size of its model, whiskers are intervals. Points with a dark ring are on the Pareto front${placed ? ` of ${(m.variants?.pareto_figures ?? []).join(", ")}` : ""}: no other${placed ? "" : " of the same model"} is better in one figure and no worse in the others, as far as intervals tell.`,
    note: () => notes(m, every(), shown(), batch),
    controls,
    zoom: "xy",
    data: () => table(m, latency, choices),
    height: (width) => (width < 620 ? 360 : 440),
    option: (look, width) => option(m, shown(), latency, figure, look, width),
    legend: (look) => (shown().length > mostNames ? [] : shown()).map((point): LegendItem => ({ name: m.names[point.subject] ?? "", look: { ...look.series(point.subject), dash: [0, 40] } })),
  };
  return [picture];
}

function pointsOf(m: Measured, latency: Figure, figure: Figure, batch: number): Point[] {
  return m.subjects.flatMap((subject) => {
    const point = { subject: subject.index, x: latency.of(subject.index), y: figure.of(subject.index), size: m.run.models[subject.index]?.size_bytes ?? null };
    return subject.batch_size === batch && point.x.value !== null && point.y.value !== null ? [point] : [];
  });
}

// Of variants the document's own front, of more figures than two.
function frontOf(m: Measured, figure: Figure): number[] {
  if (m.variants === null) return (m.figures?.fronts ?? []).filter((each) => each.against === figure.id).flatMap((each) => each.front);
  const front = m.variants.variants.filter((variant) => variant.pareto.place === "front");
  return front.flatMap((variant) => variant.measurements.map((measurement) => measurement.subject));
}

// Only a front of these two figures is a staircase.
export function isStaircase(steps: { x: number; y: number }[]): boolean {
  const sorted = [...steps].sort((a, b) => a.x - b.x);
  return sorted.length > 1 && sorted.every((step, index) => index === 0 || step.y < (sorted[index - 1] as { y: number }).y);
}

function notes(m: Measured, every: Point[], shown: Point[], batch: number): string {
  const of = m.subjects.filter((subject) => subject.batch_size === batch).length;
  return sentences(
    every.length < of ? `${of - every.length} of ${of} subjects of this batch size lack one of the two figures.` : "",
    leftOut(shown.length, every.length),
    shown.length > mostNames ? "Names are in the tooltips." : "",
  );
}

function option(m: Measured, points: Point[], latency: Figure, figure: Figure, look: Look, width: number): Option {
  const scaled = (all: Figure, pick: (point: Point) => Value): Scale => {
    const values = points.flatMap((point) => [pick(point).value, pick(point).interval?.low, pick(point).interval?.high]);
    const scale = scaleOf(all.quantity, values, { log: isWide(values.filter((value) => value !== undefined)) });
    return widened(scale);
  };
  const [x, y] = [scaled(latency, (point) => point.x), scaled(figure, (point) => point.y)];
  const front = frontOf(m, figure);
  const largest = Math.max(1, ...points.map((point) => point.size ?? 0));
  const at = (point: Point): [number, number] => [(point.x.value as number) / x.unit.factor, (point.y.value as number) / y.unit.factor];
  return {
    grid: { left: 66, right: 24, top: 20, bottom: 48 },
    xAxis: valueAxis(look, "latency (median)", x, width - 90),
    yAxis: valueAxis(look, figure.title, y, width < 620 ? 280 : 360, { nameGap: 46 }),
    tooltip: { trigger: "item" },
    series: [
      frontLine(points.filter((point) => front.includes(point.subject)), figure, at, look),
      ...points.flatMap((point) => pointSeries(point, { m, latency, figure, x, y, look, at, largest, onFront: front.includes(point.subject), named: points.length <= mostNames })),
    ],
  };
}

// Room for the areas of points at the edges.
function widened(scale: Scale): Scale {
  if (scale.log) {
    const air = (scale.high / scale.low) ** 0.07;
    return { ...scale, low: scale.low / air, high: scale.high * air };
  }
  const air = (scale.high - scale.low) * 0.04;
  return { ...scale, ...domain(scale.low - air, scale.high + air) };
}

// Names stand where there is more room.
function side(x: number, scale: Scale): "left" | "right" {
  const share = scale.log ? Math.log(x / scale.low) / Math.log(scale.high / scale.low) : (x - scale.low) / (scale.high - scale.low);
  return share > 0.6 ? "left" : "right";
}

function frontLine(front: Point[], figure: Figure, at: (point: Point) => [number, number], look: Look): Option {
  const sign = figure.lowerIsBetter ? 1 : -1;
  const steps = front.map((point) => ({ x: point.x.value as number, y: sign * (point.y.value as number), point })).sort((a, b) => a.x - b.x);
  const data = isStaircase(steps) ? steps.map(({ point }) => at(point)) : [];
  return { type: "line", name: "Front", data, step: "end", silent: true, symbol: "none", lineStyle: { color: look.text, width: 1.5, type: "dashed" }, z: 1 };
}

interface Drawn {
  m: Measured;
  latency: Figure;
  figure: Figure;
  x: Scale;
  y: Scale;
  look: Look;
  at(point: Point): [number, number];
  largest: number;
  onFront: boolean;
  named: boolean;
}

function pointSeries(point: Point, drawn: Drawn): Option[] {
  const { m, look, x, y } = drawn;
  // Of hundreds neither looks nor names can be distinguished: the tooltip shows them.
  const own: SeriesLook = drawn.named ? look.series(point.subject) : { ...look.series(0), symbol: "circle" };
  const name = m.names[point.subject] ?? "";
  const diameter = point.size === null ? 9 : Math.max(drawn.named ? 8 : 5, (drawn.named ? 34 : 16) * Math.sqrt(point.size / drawn.largest));
  const tip = (): HTMLElement =>
    tooltip(name, [
      ...estimateRows("latency p50", "s", point.x),
      ...estimateRows(drawn.figure.title, drawn.figure.quantity, point.y),
      ["model size", format("bytes", point.size, 5)],
      ["Pareto front", drawn.onFront ? "on it" : "not on it"],
    ]);
  return [
    marks(
      name,
      [point],
      drawn.at,
      (each, place) => {
        const [px, py] = drawn.at(each);
        const style = { stroke: own.color, lineWidth: drawn.named ? 1.3 : 0.8, opacity: drawn.named ? 1 : 0.4 };
        return [
          ...(each.x.interval === null ? [] : whisker("x", place(each.x.interval.low / x.unit.factor, py), place(each.x.interval.high / x.unit.factor, py), style, 3)),
          ...(each.y.interval === null ? [] : whisker("y", place(px, each.y.interval.low / y.unit.factor), place(px, each.y.interval.high / y.unit.factor), style, 3)),
          line(place(px, py).x, place(px, py).y, place(px, py).x, place(px, py).y, style),
        ];
      },
      null,
      { z: 2 },
    ),
    {
      type: "scatter",
      name,
      data: [drawn.at(point)],
      symbol: own.symbol,
      symbolSize: diameter,
      itemStyle: { color: own.color, opacity: drawn.named ? 0.8 : 0.5, borderColor: drawn.onFront ? look.text : look.panel, borderWidth: drawn.onFront ? 2 : 0.5 },
      label: { show: drawn.named, formatter: () => shortened(visible(name), 26), position: side(drawn.at(point)[0], x), color: look.text, fontSize: 11.5, offset: [0, -9] },
      labelLayout: { hideOverlap: true },
      tooltip: { formatter: tip },
      z: 3,
    },
  ];
}

function table(m: Measured, latency: Figure, choices: Figure[]): DataTable {
  const all = [latency, ...choices];
  const unit: Record<string, string> = { s: ", s", bytes: ", bytes", share: ", share" };
  const place = (subject: number): string => m.variants?.variants.find((variant) => variant.measurements.some((each) => each.subject === subject))?.pareto.place ?? "";
  return {
    columns: [
      { title: "subject", numeric: false },
      { title: "batch size", numeric: true },
      ...all.flatMap((figure) => [
        { title: `${figure.title}${unit[figure.quantity] ?? ""}`, numeric: true },
        { title: "low", numeric: true },
        { title: "high", numeric: true },
      ]),
      ...(m.variants === null ? [] : [{ title: "Pareto", numeric: false }]),
    ],
    rows: m.subjects.map((subject) => [
      m.names[subject.index] ?? "",
      subject.batch_size,
      ...all.flatMap((figure) => {
        const value = figure.of(subject.index);
        return [value.value, value.interval?.low ?? null, value.interval?.high ?? null];
      }),
      ...(m.variants === null ? [] : [place(subject.index).replace("_", " ")]),
    ]),
  };
}
