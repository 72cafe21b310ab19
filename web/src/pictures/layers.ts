// How the error grows along the graph, tensor by tensor, against what rounding explains.
import type { Layers, Part } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, digits, MISSING } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { logScale } from "./log_scale.ts";
import type { LogScale } from "./log_scale.ts";
import { dot, line, marks } from "./marks.ts";

type Tensor = Layers["tensors"][number];

const most = 1200; // symbols; the line goes through the smallest and largest of each stretch beyond

export function layersPictures(part: Part): Picture[] {
  const layers = part.layers;
  if (layers === null || layers.tensors.every((tensor) => tensor.error === null)) return [];
  return [picture(layers)];
}

function picture(layers: Layers): ChartPicture {
  const [reference, candidate] = [visible(layers.reference.label), visible(layers.candidate.label)];
  return {
    kind: "chart",
    id: "layers",
    title: "Error along the graph",
    reads:
      `A point is a tensor, in the order of the graph of ${reference}: how far that of ${candidate} is from it (relative L2, logarithmic). ` +
      `Above the dashed line is more than rounding explains; a jump is at least ${String(layers.least_jump)} times the largest error before it.`,
    note: () => note(layers.tensors),
    height: () => 400,
    option: (look, width) => option(layers, look, width),
    legend: (look) => [
      { name: "Error", look: look.series(0) },
      { name: "Rounding floor", look: floorLook(look) },
      ...(marksOf(layers).length > 0 ? [{ name: "Marks", look: { ...floorLook(look), color: look.text, symbol: "diamond" as const, dash: "dotted" as const } }] : []),
    ],
    data: () => data(layers),
  };
}

const floorLook = (look: Look): ReturnType<Look["series"]> => ({ color: look.muted, symbol: "rect", dash: "dashed" });

function note(tensors: Tensor[]): string {
  const equal = tensors.filter((tensor) => tensor.error === 0).length;
  const none = tensors.filter((tensor) => tensor.error === null);
  const apart = none.filter((tensor) => tensor.non_finite_apart > 0).length;
  return [
    equal > 0 ? `${count(equal, "tensor is", "tensors are")} the same in both: at the bottom, at 0.` : "",
    apart > 0 ? `${count(apart, "tensor is", "tensors are")} NaN or infinite in one of the two only: at the top, as crosses.` : "",
    none.length - apart > 0 ? `${count(none.length - apart, "tensor has", "tensors have")} no error to draw: the data says why.` : "",
    tensors.length > most ? `The line goes through the smallest and largest of each stretch of the ${count(tensors.length, "tensor", "tensors")}.` : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function option(layers: Layers, look: Look, width: number): Option {
  const { tensors } = layers;
  const scale = logScale(tensors.flatMap((tensor) => [tensor.error, tensor.rounding_floor]));
  const style = look.series(0);
  const many = tensors.length > most;
  return {
    grid: { left: 74, right: 20, top: 16 + 20 * Math.min(3, marksOf(layers).length), bottom: 48 },
    tooltip: { trigger: "axis", axisPointer: { type: "line", snap: true }, formatter: (hits: { dataIndex: number }[]) => tip(layers, hits[0]?.dataIndex ?? 0) },
    xAxis: axis(look, "tensor, in the order of the graph", { type: "value", min: 0, max: Math.max(1, tensors.length - 1), minInterval: 1, splitLine: { show: false } }),
    yAxis: axis(look, "relative L2 error", { ...scale.axis(look), nameGap: 56 }),
    series: [
      {
        type: "line",
        name: "Error",
        data: tensors.map((tensor, index) => [index, tensor.error === null ? null : scale.place(tensor.error)]),
        showSymbol: !many,
        symbol: style.symbol,
        symbolSize: tensors.length > 300 ? 3 : 5,
        lineStyle: { color: style.color, width: 1.5 },
        itemStyle: { color: style.color },
        ...(many ? { sampling: "minmax" } : {}),
      },
      {
        type: "line",
        name: "Rounding floor",
        data: tensors.map((tensor, index) => [index, tensor.rounding_floor > 0 ? tensor.rounding_floor : null]),
        showSymbol: false,
        step: "end",
        lineStyle: { color: look.muted, type: "dashed", width: 1.5 },
        itemStyle: { color: look.muted },
      },
      broken(tensors, scale, look),
      named(layers, scale, look, width),
    ],
  };
}

// NaN or infinite in one only: there is no number to draw, and nothing is worse.
function broken(tensors: Tensor[], scale: LogScale, look: Look): Option {
  return {
    type: "scatter",
    name: "Error",
    data: tensors.flatMap((tensor, index) => (tensor.error === null && tensor.non_finite_apart > 0 ? [[index, scale.high]] : [])),
    symbol: "path://M2 0 8 6 14 0 16 2 10 8 16 14 14 16 8 10 2 16 0 14 6 8 0 2Z",
    symbolSize: 9,
    itemStyle: { color: look.bad },
  };
}

interface Mark {
  index: number;
  what: string;
}

// What the report names; several of them may be one tensor.
function marksOf(layers: Layers): Mark[] {
  const all: [number | null, string][] = [
    [layers.first_difference, "first difference"],
    [layers.jump, "jump"],
    [layers.worst, "worst"],
  ];
  const found = new Map<number, string[]>();
  for (const [index, what] of all) if (index !== null) found.set(index, [...(found.get(index) ?? []), what]);
  return [...found].sort(([a], [b]) => a - b).map(([index, what]) => ({ index, what: what.join(" and ") }));
}

// A line down to the tensor, and words above the grid, one row for each.
function named(layers: Layers, scale: LogScale, look: Look, width: number): Option {
  const all = marksOf(layers);
  const error = (mark: Mark): number => scale.place(layers.tensors[mark.index]?.error ?? scale.high);
  return marks(
    "Marks",
    all,
    (mark) => [mark.index, error(mark)],
    (mark, place, area) => {
      const tensor = layers.tensors[mark.index];
      const { x, y } = place(mark.index, error(mark));
      if (tensor === undefined || x < area.x - 1 || x > area.x + area.width + 1) return [];
      const color = mark.what.includes("jump") ? look.bad : look.text;
      const top = area.y - 20 * (all.length - all.indexOf(mark)) + 9;
      const turned = x > area.x + area.width / 2;
      const words = {
        type: "text",
        x: turned ? x - 5 : x + 5,
        y: top,
        style: {
          text: `${mark.what}: ${visible(tensor.name)}`,
          fill: color,
          backgroundColor: look.panel,
          padding: [1, 3],
          fontSize: 12,
          align: turned ? "right" : "left",
          verticalAlign: "middle",
          width: Math.min(width, (turned ? x - area.x + 60 : area.x + area.width - x)) - 8,
          overflow: "truncate",
        },
      };
      return [line(x, top, x, y - 6, { stroke: color, lineWidth: 1, lineDash: [3, 3] }), dot(x, y, 6, { stroke: color, lineWidth: 2, fill: "none" }), words];
    },
    null,
    { clip: false },
  );
}

function tip(layers: Layers, index: number): HTMLElement {
  const tensor = layers.tensors[index];
  if (tensor === undefined) return tooltip("", []);
  const what = marksOf(layers).find((mark) => mark.index === index)?.what;
  const row = (title: string, text: string): [string, string][] => (text === "" ? [] : [[title, text.slice(0, 80)]]);
  return tooltip(tensor.name.slice(0, 100), [
    ...row("", what ?? ""),
    ["error", tensor.error === null ? MISSING : digits(tensor.error)],
    ...row("why none", tensor.reason),
    ["rounding explains", digits(tensor.rounding_floor)],
    ["largest |difference|", tensor.max_absolute === null ? MISSING : digits(tensor.max_absolute)],
    ...row("node", tensor.node),
    ...row("operator", tensor.operator),
    ["shape", `${tensor.dtype} [${tensor.shape.join(", ")}]`],
    ...(tensor.non_finite_apart > 0 ? row("NaN or infinite in one", String(tensor.non_finite_apart)) : []),
    ...(tensor.candidate_name === tensor.name ? [] : row("in the candidate", tensor.candidate_name)),
    ["matched by", tensor.matched_by],
  ]);
}

function data(layers: Layers): DataTable {
  const text = (title: string): { title: string; numeric: boolean } => ({ title, numeric: false });
  const number = (title: string): { title: string; numeric: boolean } => ({ title, numeric: true });
  const what = new Map(marksOf(layers).map((mark) => [mark.index, mark.what]));
  return {
    columns: [
      number("index"), text("tensor"), text("mark"), number("relative L2 error"), number("rounding floor"), number("largest |difference|"),
      number("mean |difference|"), number("cosine"), text("node"), text("operator"), text("type"), text("shape"), text("in the candidate"),
      text("matched by"), number("NaN or infinite in one"), text("why not compared"),
    ],
    rows: layers.tensors.map((tensor, index) => [
      index, tensor.name, what.get(index) ?? null, tensor.error, tensor.rounding_floor, tensor.max_absolute,
      tensor.mae, tensor.cosine, tensor.node, tensor.operator, tensor.dtype, `[${tensor.shape.join(", ")}]`, tensor.candidate_name,
      tensor.matched_by, tensor.non_finite_apart, tensor.reason === "" ? null : tensor.reason,
    ]),
  };
}
