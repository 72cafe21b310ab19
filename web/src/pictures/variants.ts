// What each variant of a model gained: how much faster against how much smaller than the baseline.
import type { Part, PlainEstimate, Variants } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, digits, format, interval, MISSING, signed } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, Picture } from "../picture.ts";
import { line, marks, whiskers } from "./marks.ts";

type Variant = Variants["variants"][number];

interface Point {
  index: number; // of the variant
  variant: Variant;
  size: number;
  smaller: number; // times: the baseline's size divided by this one's, both exact
  speedUp: PlainEstimate | null; // null: it is the baseline
}

const most = 24; // variants with their names beside them
const times = { name: "×", factor: 1 };

export function variantsPictures(part: Part): Picture[] {
  const variants = part.variants;
  if (variants === null) return [];
  const [first] = variants.batch_sizes.filter((batch) => points(variants, batch).length > 1);
  return first === undefined ? [] : [picture(variants, first)];
}

function points(variants: Variants, batch: number): Point[] {
  const base = variants.variants[0]?.size_bytes ?? null;
  return variants.variants.flatMap((variant, index) => {
    const measured = variant.measurements.find((each) => each.batch_size === batch);
    if (base === null || variant.size_bytes === null || variant.size_bytes === 0 || measured === undefined) return [];
    if (index > 0 && measured.speed_up === null) return [];
    return [{ index, variant, size: variant.size_bytes, smaller: base / variant.size_bytes, speedUp: measured.speed_up }];
  });
}

function picture(variants: Variants, first: number): ChartPicture {
  let batch = first;
  const choices = variants.batch_sizes.map((each) => ({ value: String(each), label: String(each) }));
  return {
    kind: "chart",
    id: "speed-up",
    title: "Speed-up against size",
    reads:
      "A variant right of the vertical line is smaller than the baseline, one above the horizontal line faster; whiskers are the intervals of the " +
      "speed-up. A variant whose whisker crosses the line is not shown to be either. Filled: on the Pareto front.",
    note: () => {
      const missing = variants.variants.length - points(variants, batch).length;
      return missing > 0 ? `${count(missing, "variant has", "variants have")} no size or no speed-up at batch size ${batch}.` : "";
    },
    controls: choices.length < 2 ? [] : [{ label: "Batch size", choices, value: String(first), change: (value) => (batch = Number(value)) }],
    height: () => 380,
    zoom: "xy",
    option: (look) => option(points(variants, batch), look),
    legend: (look) => points(variants, batch).map((point) => ({ name: seriesName(point), look: lookOf(point, look) })),
    data: () => ({
      columns: [
        { title: "variant", numeric: false }, { title: "size, bytes", numeric: true }, { title: "times smaller", numeric: true },
        { title: "speed-up", numeric: true }, { title: "low", numeric: true }, { title: "high", numeric: true }, { title: "Pareto", numeric: false },
      ],
      rows: points(variants, batch).map((point) => [
        point.variant.label, point.size, point.smaller, point.speedUp?.value ?? null, point.speedUp?.interval?.low ?? null,
        point.speedUp?.interval?.high ?? null, place(point.variant),
      ]),
    }),
  };
}

// Labels need not be unique, series' names must.
const seriesName = (point: Point): string => `${point.index + 1} ${visible(point.variant.label)}`;
const lookOf = (point: Point, look: Look): SeriesLook => look.series(point.index);
const place = (variant: Variant): string => (variant.pareto.place === "front" ? "on the front" : variant.pareto.place === "dominated" ? "dominated" : "not placed");

function option(all: Point[], look: Look): Option {
  const times = { color: look.muted, fontSize: 12, showMinLabel: false, showMaxLabel: false, formatter: (value: number) => `${Number(value.toPrecision(4))}×` };
  return {
    grid: { left: 66, right: 24, top: 16, bottom: 48 },
    tooltip: { trigger: "item" },
    xAxis: axis(look, "times smaller than the baseline", { type: "value", scale: true, boundaryGap: ["8%", "14%"], axisLabel: times, ...ends }),
    yAxis: axis(look, "speed-up", { type: "value", scale: true, boundaryGap: ["8%", "8%"], nameGap: 46, axisLabel: times, ...ends }),
    series: [...all.flatMap((point) => drawn(point, look, all.length <= most)), lines(look)],
  };
}

// The lines at 1 are always in sight.
const ends = {
  min: (extent: { min: number; max: number }) => Math.min(0.95, extent.min - 0.05 * (extent.max - extent.min)),
  max: (extent: { min: number; max: number }) => Math.max(1.05, extent.max + 0.12 * (extent.max - extent.min)),
};

function drawn(point: Point, look: Look, named: boolean): Option[] {
  const style = lookOf(point, look);
  const name = seriesName(point);
  const value = point.speedUp?.value ?? 1;
  const between = point.speedUp?.interval ?? null;
  const filled = point.variant.pareto.place === "front";
  return [
    ...(between === null ? [] : [whiskers(name, style.color, "y", [[point.smaller, between.low, between.high]])]),
    {
      type: "scatter",
      name,
      data: [[point.smaller, value]],
      symbol: style.symbol,
      symbolSize: 12,
      itemStyle: { color: filled ? style.color : look.panel, borderColor: style.color, borderWidth: 2, opacity: 1 },
      // Neighbours at one place, often the baseline and what gained nothing, have their words above and below.
      label: { show: named, position: "right", offset: [2, point.index % 2 === 0 ? -9 : 9], formatter: visible(point.variant.label), color: look.text, fontSize: 12, width: 130, overflow: "truncate" },
      tooltip: { formatter: () => tip(point) },
      z: 4,
    },
  ];
}

// At 1 of both, across the whole area.
function lines(look: Look): Option {
  const style = { stroke: look.muted, lineDash: [5, 4], lineWidth: 1.25 };
  return marks(
    "Baseline",
    [1],
    (one) => [one, one],
    (one, place, area) => {
      const { x, y } = place(one, one);
      return [line(x, area.y, x, area.y + area.height, style), line(area.x, y, area.x + area.width, y, style)];
    },
    null,
    { z: 1 },
  );
}

function tip(point: Point): HTMLElement {
  const { speedUp, variant } = point;
  return tooltip(variant.label.slice(0, 100), [
    ["kind", variant.kind.slice(0, 60)],
    ["size", format("bytes", point.size)],
    ["times smaller", `${digits(point.smaller)}×`],
    ["speed-up", speedUp === null ? "the baseline" : format("ratio", speedUp.value)],
    ["interval", speedUp?.interval ? `${interval(speedUp.interval.low, speedUp.interval.high, times)}×` : MISSING],
    ["output error", variant.output_error === null ? MISSING : digits(variant.output_error)],
    ["accuracy", variant.accuracy === null ? MISSING : `${signed(variant.accuracy * 100).replace("+", "")} %`],
    ["Pareto", place(variant)],
    ...(variant.pareto.dominated_by.length > 0 ? ([["dominated by", variant.pareto.dominated_by.join(", ").slice(0, 100)]] as [string, string][]) : []),
  ]);
}
