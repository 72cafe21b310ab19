// Roofline: what each operator achieves against what this machine can do at best. Williams, Waterman & Patterson 2009.
import type { MachinePeaks, OperatorRoofline, OperatorTable, Part, ProfiledOperator } from "../document.ts";
import { shortened, visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, digits, format, percent } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, Control, DataTable, Picture } from "../picture.ts";
import { power } from "./log_scale.ts";
import { line, marks } from "./marks.ts";
import { choice, tablesOf } from "./profiled.ts";
import { ends, logTicksIn, tickText } from "./scale.ts";
import { measured, sentences } from "./trials.ts";

interface Point {
  operator: ProfiledOperator;
  at: OperatorRoofline;
}

interface Profiled {
  name: string;
  table: OperatorTable;
  points: Point[];
}

const mostPoints = 1500; // per subject: the slowest

export function roofline(part: Part): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  const peaks = profile?.peaks ?? null;
  if (m === null || profile === null || peaks === null || peaks.compute.length === 0) return [];
  const subjects = tablesOf(profile)
    .map(({ subject, table }): Profiled => ({ name: m.names[subject] ?? "", table, points: pointsOf(table) }))
    .filter(({ points, table }) => points.length > 0 && !table.distorted);
  if (subjects.length === 0) return [];
  let shown = subjects.slice(0, 8);
  const controls: Control[] = [];
  if (subjects.length > 1) {
    const choices = subjects.map((each, index): [string, string] => [String(index), each.name]);
    controls.push(choice("Subject", [["", subjects.length > 8 ? "the first 8" : "all"], ...choices], (value) => (shown = value === "" ? subjects.slice(0, 8) : subjects.slice(Number(value), Number(value) + 1))));
  }
  const picture: ChartPicture = {
    kind: "chart",
    id: "roofline",
    short: "Roofline",
    title: "Roofline: operators against what this machine can do",
    reads:
      "A point is an operator, its area its time: how many floating-point operations it does a second (up), and how many for each byte that it has to move (right). " +
      "Under a slope memory is the limit, under a flat roof arithmetic. The roofs were measured on this machine, in the same run.",
    note: () => sentences(...shown.map(({ table, name }) => wholeText(table, name, shown.length > 1)), slowed(tablesOf(profile).filter(({ table }) => table.distorted).length), ...peaks.missing.map((each) => `${visible(each)}.`.replace("..", "."))),
    controls,
    zoom: "xy",
    height: (width) => (width < 620 ? 400 : 480),
    option: (look, width) => option(shown, peaks, look, width),
    legend: (look) => shown.map(({ name }, index) => ({ name, look: { ...look.series(subjects.findIndex((each) => each.name === name)), dash: [0, 40], symbol: look.series(index).symbol } })),
    data: () => data(shown, peaks),
  };
  return [picture];
}

function pointsOf(table: OperatorTable): Point[] {
  return table.operators.flatMap((operator) => (operator.roofline === null || !(operator.roofline.intensity > 0 && operator.roofline.flops_per_s > 0) ? [] : [{ operator, at: operator.roofline }])).slice(0, mostPoints);
}

function slowed(subjects: number): string {
  return subjects === 0 ? "" : `Profiling slowed ${count(subjects, "subject", "subjects")} by more than 5 %: their times cannot be read, and their operators are not here.`;
}

function wholeText(table: OperatorTable, name: string, named: boolean): string {
  const { whole_fraction: fraction, whole_flops: flops, reason } = table.roofline;
  const who = named ? `${name}: the model` : "The model";
  if (fraction === null) return reason === "" ? "" : `${named ? `${name}: ` : ""}no roofline of the whole: ${visible(reason)}.`.replace("..", ".");
  return `${who} runs at ${percent(fraction)} of what this machine can do (${format("plain", flops / 1e9)} GFLOP).`;
}

function option(shown: Profiled[], peaks: MachinePeaks, look: Look, width: number): Option {
  const all = shown.flatMap(({ points }) => points);
  const [lowX, highX] = ends(all.map(({ at }) => at.intensity));
  const [lowY] = ends(all.map(({ at }) => at.flops_per_s));
  const top = Math.max(...peaks.compute.map((peak) => peak.ops_per_s), ends(all.map(({ at }) => at.flops_per_s))[1]);
  const xs: [number, number] = [decade(lowX / 2, Math.floor), decade(highX * 2, Math.ceil)];
  const ys: [number, number] = [decade(lowY / 1e9 / 2, Math.floor), decade((top / 1e9) * 1.5, Math.ceil)];
  const longest = Math.max(...all.map(({ operator }) => operator.share), 1e-9);
  const size = (share: number): number => Math.max(5, 34 * Math.sqrt(Math.max(0, share) / longest));
  const log = (title: string, [min, max]: [number, number], room: number, more: Option): Option => {
    const ticksIn = logTicksIn(room, 62);
    const customValues = ticksIn(min, max);
    return axis(look, title, { type: "log", min, max, ticksIn, axisTick: { customValues, lineStyle: { color: look.line } }, axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, customValues, formatter: max / min > 1e4 ? power : tickText }, ...more });
  };
  return {
    grid: { left: 66, right: 20, top: 20, bottom: 48 },
    xAxis: log(width < 620 ? "operations per byte" : "floating-point operations per byte moved", xs, width - 86, {}),
    yAxis: log("GFLOP/s", ys, 350, { nameGap: 46 }),
    tooltip: { trigger: "item" },
    series: [
      roofs(peaks, xs, ys, look),
      ...shown.map(({ name, points }, index) => ({
        type: "scatter",
        name,
        symbol: look.series(index).symbol,
        itemStyle: { color: look.series(index).color, opacity: 0.6, borderColor: look.text, borderWidth: 0.8 },
        data: points.map(({ at, operator }) => ({ value: [at.intensity, at.flops_per_s / 1e9], symbolSize: size(operator.share) })),
        tooltip: { formatter: (hit: { dataIndex: number }) => tip(points[hit.dataIndex] as Point, shown.length > 1 ? name : "") },
        z: 3,
      })),
    ],
  };
}

const decade = (value: number, round: (exponent: number) => number): number => 10 ** round(Math.log10(Math.max(value, 1e-12)));

// A flat roof for each type of number; a slope for each level of memory, up to the highest roof.
function roofs(peaks: MachinePeaks, xs: [number, number], ys: [number, number], look: Look): Option {
  const top = Math.max(...peaks.compute.map((peak) => peak.ops_per_s)) / 1e9;
  const bandwidths = peaks.bandwidth.map((each) => ({ name: each.level, perByte: each.bytes_per_s / 1e9 })).filter(({ perByte }) => perByte > 0);
  const fastest = Math.max(...bandwidths.map(({ perByte }) => perByte), 1e-12);
  type Roof = { text: string; from: number; y: number; slope: number };
  const flat = peaks.compute.map((each) => ({ text: `${each.dtype} ${digits(each.ops_per_s / 1e9)} ${each.dtype.startsWith("int") ? "GOP/s" : "GFLOP/s"}`, from: each.ops_per_s / 1e9 / fastest, y: each.ops_per_s / 1e9, slope: 0 }));
  const slopes: Roof[] = bandwidths.map((each) => ({ text: `${each.name} ${digits(each.perByte)} GB/s`, from: 0, y: top, slope: each.perByte }));
  const labelled = (start: number, end: number, roof: Roof): number => start * (end / start) ** (0.03 + 0.27 * (slopes.indexOf(roof) % 3)); // neighbours lie close together

  return marks(
    "Roofs",
    [...flat, ...slopes],
    (roof) => [xs[1], roof.y],
    (roof: Roof, place, area) => {
      const style = { stroke: look.muted, lineWidth: 1.5, ...(roof.slope > 0 ? { lineDash: [6, 4] } : {}) };
      const label = { text: visible(shortened(roof.text, 40)), fill: look.muted, font: `11px ${look.font}` };
      if (roof.slope === 0) {
        const [from, to] = [place(Math.max(roof.from, xs[0]), roof.y), place(xs[1], roof.y)];
        return [line(from.x, from.y, to.x, to.y, style), { type: "text", style: { ...label, x: Math.min(to.x, area.x + area.width) - 4, y: to.y - 4, align: "right", verticalAlign: "bottom" } }];
      }
      const start = Math.max(xs[0], ys[0] / roof.slope);
      const [from, to] = [place(start, start * roof.slope), place(Math.min(xs[1], top / roof.slope), Math.min(top, xs[1] * roof.slope))];
      const at = labelled(start, Math.max(start, Math.min(xs[1], top / roof.slope)), roof);
      const words = place(at, at * roof.slope);
      return [line(from.x, from.y, to.x, to.y, style), { type: "text", x: words.x, y: words.y - 5, rotation: Math.atan2(from.y - to.y, to.x - from.x), style: { ...label, align: "left", verticalAlign: "bottom" } }];
    },
    null,
    { z: 2 },
  );
}

function tip({ operator, at }: Point, subject: string): HTMLElement {
  return tooltip(operator.name.slice(0, 100), [
    ...(subject === "" ? [] : [["subject", subject] as [string, string]]),
    ["kind", [operator.kind, operator.kernel].filter((text) => text !== "").join(", ").slice(0, 80)],
    ["precision", operator.precision],
    ["time", format("s", operator.mean_s)],
    ["of an inference", percent(operator.share)],
    ["achieved", `${digits(at.flops_per_s / 1e9)} GFLOP/s`],
    ["operations per byte", digits(at.intensity)],
    ["of the roof", percent(at.fraction)],
    ["bound by", at.bound],
  ]);
}

function data(shown: Profiled[], peaks: MachinePeaks): DataTable {
  const titles = ["subject", "operator", "precision", "bound by"];
  const numbers = ["floating-point operations", "bytes", "operations per byte", "achieved, /s", "of the roof", "share of an inference"];
  return {
    columns: [...titles.map((title) => ({ title, numeric: false })), ...numbers.map((title) => ({ title, numeric: true }))],
    rows: [
      ...peaks.compute.map((peak) => ["(roof)", peak.dtype, peak.dtype, "compute", null, null, null, peak.ops_per_s, 1, null]),
      ...peaks.bandwidth.map((peak) => ["(roof)", `${peak.level}, bytes/s`, "", "memory", null, null, null, peak.bytes_per_s, 1, null]),
      ...shown.flatMap(({ name, points }) => points.map(({ operator, at }) => [name, operator.name, operator.precision, at.bound, at.flops, at.bytes, at.intensity, at.flops_per_s, at.fraction, operator.share])),
    ],
  };
}
