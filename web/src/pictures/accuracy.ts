// How often each side is right, what that changed by, and class by class.
import type { Accuracy, Interval, Validation } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, digits, MISSING, percent, signed } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { line, marks, whiskers } from "./marks.ts";

export function accuracyPictures(validation: Validation): Picture[] {
  const sides = [validation.baseline, validation.candidate].filter((side) => side.accuracy?.value !== null && side.accuracy !== null);
  return sides.length === 0 ? [] : [overall(validation), ...perClass(validation)];
}

interface Row {
  label: string;
  what: string;
  value: number | null;
  interval: Interval | null;
  n: number | null;
}

function rows(validation: Validation): Row[] {
  return [validation.baseline, validation.candidate].map((side, index) => ({
    label: visible(side.label),
    what: index === 0 ? "baseline" : "candidate",
    value: side.accuracy?.value ?? null,
    interval: side.accuracy?.interval ?? null,
    n: observations(side.accuracy),
  }));
}

const observations = (accuracy: Accuracy | null): number | null => accuracy?.labels?.rows ?? accuracy?.masks?.pixels ?? null;
const unitOf = (validation: Validation): string => (validation.baseline.accuracy?.masks === null ? "rows" : "pixels");
const between = (interval: Interval | null): string =>
  interval === null ? MISSING : `[${digits(interval.low * 100)}, ${digits(interval.high * 100)}] %`;
const confidence = (interval: Interval | null): string => (interval === null ? "interval" : `${digits(interval.confidence * 100, 2)} % interval`);

function overall(validation: Validation): ChartPicture {
  const sides = rows(validation);
  const change = validation.candidate.accuracy?.change ?? null;
  const allowed = validation.drop?.allowed ?? null;
  return {
    kind: "chart",
    id: "accuracy",
    title: "Accuracy of both",
    reads:
      "Above: the share that is right of each side, with its interval. Below: the candidate's change in percentage points, with its interval; " +
      "left of 0 is less right" + (allowed === null ? "." : ", and left of the red line is more than is allowed."),
    note: () => (sides.some((side) => side.interval === null) ? "A share without a whisker has no interval in the report." : ""),
    height: () => (change === null ? 140 : 270),
    zoom: "none",
    option: (look, width) => overallOption(validation, sides, look, width),
    data: () => overallData(validation, sides),
  };
}

function overallOption(validation: Validation, sides: Row[], look: Look, width: number): Option {
  const change = validation.candidate.accuracy?.change ?? null;
  const left = Math.min(240, Math.max(90, width * 0.3));
  const styles = [look.series(0), look.series(1)];
  const both = change !== null;
  const names = (data: string[], gridIndex: number): Option =>
    axis(look, "", {
      type: "category", inverse: true, data, gridIndex,
      axisLabel: { color: look.text, fontSize: 12, width: left - 10, overflow: "truncate", interval: 0 },
      splitLine: { show: false }, axisTick: { show: false },
    });
  const percentLabel = { color: look.muted, fontSize: 12, hideOverlap: true, showMinLabel: false, showMaxLabel: false, formatter: (value: number) => String(Number((value * 100).toPrecision(5))) };
  const points = (data: [number, number][], style: SeriesLook, index: number, axes: Option, tip: () => HTMLElement): Option[] => [
    {
      type: "scatter", id: `point-${index}`, ...axes, data, symbol: style.symbol, symbolSize: 11, itemStyle: { color: style.color }, z: 4,
      tooltip: { formatter: tip },
    },
  ];
  const first = { xAxisIndex: 0, yAxisIndex: 0 };
  const second = { xAxisIndex: 1, yAxisIndex: 1 };
  const series: Option[] = sides.flatMap((side, index) => {
    const style = styles[index] as SeriesLook;
    if (side.value === null) return [];
    return [
      ...(side.interval === null ? [] : [whiskers("", style.color, "x", [[index, side.interval.low, side.interval.high]], first)]),
      ...points([[side.value, index]], style, index, first, () => sideTip(validation, side)),
    ];
  });
  if (change !== null) {
    const style = look.series(1);
    if (change.interval !== null) series.push(whiskers("", style.color, "x", [[0, change.interval.low, change.interval.high]], second));
    series.push(...points([[change.value, 0]], style, 2, second, () => changeTip(validation)), bounds(validation, look, second));
  }
  return {
    grid: [
      { left, right: 24, top: 8, height: 76 },
      ...(both ? [{ left, right: 24, top: 150, height: 60 }] : []),
    ],
    tooltip: { trigger: "item" },
    xAxis: [
      axis(look, "right, %", { type: "value", scale: true, boundaryGap: ["5%", "5%"], gridIndex: 0, axisLabel: percentLabel, }),
      ...(both ? [axis(look, "change, percentage points", { type: "value", gridIndex: 1, axisLabel: percentLabel, ...reach(validation) })] : []),
    ],
    yAxis: [names(sides.map((side) => side.label), 0), ...(both ? [names(["change"], 1)] : [])],
    series,
  };
}

// The axis of the change holds 0, what is allowed, and the whole interval.
function reach(validation: Validation): Option {
  const allowed = validation.drop?.allowed ?? 0;
  return {
    min: (extent: { min: number }) => Math.min(extent.min, -allowed, 0) * 1.1 - 0.002,
    max: (extent: { max: number }) => Math.max(extent.max, 0) * 1.1 + 0.002,
  };
}

function bounds(validation: Validation, look: Look, axes: Option): Option {
  const allowed = validation.drop?.allowed ?? null;
  const all = [{ at: 0, text: "", color: look.muted, dash: [] as number[] }];
  if (allowed !== null) all.push({ at: -allowed, text: `allowed: −${digits(allowed * 100)}`, color: look.bad, dash: [5, 4] });
  return marks(
    "Bounds",
    all,
    ({ at }) => [at, 0],
    ({ at, text, color, dash }, place, area) => {
      const { x } = place(at, 0);
      const words = { type: "text", x, y: area.y - 4, style: { text, fill: color, fontSize: 12, align: "center", verticalAlign: "bottom" } };
      return [line(x, area.y, x, area.y + area.height, { stroke: color, lineDash: dash }), ...(text === "" ? [] : [words])];
    },
    null,
    { ...axes, clip: false, z: 3 },
  );
}

function sideTip(validation: Validation, side: Row): HTMLElement {
  return tooltip(side.label.slice(0, 100), [
    ["", side.what],
    ["right", percent(side.value)],
    [confidence(side.interval), between(side.interval)],
    [unitOf(validation), side.n === null ? MISSING : count(side.n, "", "").trim()],
  ]);
}

function changeTip(validation: Validation): HTMLElement {
  const change = validation.candidate.accuracy?.change;
  if (change === null || change === undefined) return tooltip("", []);
  return tooltip("Change of accuracy", [
    ["percentage points", signed(change.value * 100)],
    [confidence(change.interval), between(change.interval)],
    ["p", digits(change.p)],
    ["right in both", String(change.both)],
    ["in the baseline only", String(change.reference_only)],
    ["in the candidate only", String(change.candidate_only)],
    ["in neither", String(change.neither)],
  ]);
}

function overallData(validation: Validation, sides: Row[]): DataTable {
  const change = validation.candidate.accuracy?.change ?? null;
  const row = (what: string, label: string, value: number | null, interval: Interval | null, n: number | null): (string | number | null)[] => [
    what, label, value, interval?.low ?? null, interval?.high ?? null, interval?.confidence ?? null, n,
  ];
  return {
    columns: [
      { title: "what", numeric: false },
      { title: "label", numeric: false },
      { title: "share", numeric: true },
      { title: "low", numeric: true },
      { title: "high", numeric: true },
      { title: "confidence", numeric: true },
      { title: `n (${unitOf(validation)})`, numeric: true },
    ],
    rows: [
      ...sides.map((side) => row(side.what, side.label, side.value, side.interval, side.n)),
      ...(change === null ? [] : [row("change", validation.candidate.label, change.value, change.interval, observations(validation.candidate.accuracy))]),
    ],
  };
}

// --- class by class ---

interface ClassRow {
  label: number;
  n: number | null;
  shares: (number | null)[]; // baseline, candidate
  words: string[]; // as the tooltip has them
}

function classRows(validation: Validation): ClassRow[] {
  const sides = [validation.baseline.accuracy, validation.candidate.accuracy];
  const labels = new Set(sides.flatMap((side) => [...(side?.labels?.classes ?? []), ...(side?.masks?.classes ?? [])].map((each) => each.label)));
  return [...labels]
    .sort((a, b) => a - b)
    .map((label) => {
      const found = sides.map((side) => side?.labels?.classes.find((each) => each.label === label));
      const masks = sides.map((side) => side?.masks?.classes.find((each) => each.label === label));
      return {
        label,
        n: found.find((each) => each !== undefined)?.rows ?? masks.find((each) => each !== undefined)?.truth ?? null,
        shares: [0, 1].map((i) => {
          const row = found[i];
          return row === undefined ? (masks[i]?.iou ?? null) : row.rows > 0 ? row.right / row.rows : null;
        }),
        words: [0, 1].map((i) => {
          const row = found[i];
          return row === undefined ? percent(masks[i]?.iou) : `${row.right} of ${row.rows}`;
        }),
      };
    });
}

function perClass(validation: Validation): ChartPicture[] {
  const all = classRows(validation);
  if (all.length < 2 || all.every((row) => row.shares.every((share) => share === null))) return [];
  const masks = validation.baseline.accuracy?.masks !== null;
  const sides = rows(validation);
  return [
    {
      kind: "chart",
      id: "accuracy-classes",
      title: masks ? "Intersection over union of each class" : "Accuracy of each class",
      reads: masks
        ? "Of each class the overlap of what is predicted with what is right; a line joins the two sides. No intervals: pixels of one image are not independent."
        : "Of each class the rows that are right, of all rows of that class; a line joins the two sides. Classes have few rows each: small gaps mean nothing, and no interval is claimed.",
      height: () => 320,
      option: (look) => classOption(all, masks, look),
      legend: (look) => ["Baseline", "Candidate"].map((name, index) => ({ name, look: look.series(index) })),
      data: () => ({
        columns: [
          { title: "class", numeric: true },
          { title: masks ? "pixels" : "rows", numeric: true },
          ...sides.map((side) => ({ title: `${side.what} (${side.label})${masks ? ", IoU" : ", share right"}`, numeric: true })),
        ],
        rows: all.map((row) => [row.label, row.n, ...row.shares]),
      }),
    },
  ];
}

function classOption(all: ClassRow[], masks: boolean, look: Look): Option {
  const side = (index: number): Option => {
    const style = look.series(index);
    return {
      type: "scatter",
      name: index === 0 ? "Baseline" : "Candidate",
      data: all.map((row, at) => [at, row.shares[index] ?? null]),
      symbol: style.symbol,
      symbolSize: all.length > 200 ? 4 : index === 0 ? 10 : 8,
      itemStyle: { color: style.color },
      z: 3 + index,
    };
  };
  const joined = all.flatMap((row, at): [number, number, number][] => {
    const [a, b] = row.shares;
    return typeof a === "number" && typeof b === "number" && a !== b ? [[at, a, b]] : [];
  });
  return {
    grid: { left: 60, right: 20, top: 12, bottom: 48 },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "line" },
      formatter: (hits: { dataIndex: number }[]) => {
        const row = all[hits[0]?.dataIndex ?? 0];
        return tooltip(`Class ${row?.label ?? ""}`, [
          ["baseline", row?.words[0] ?? MISSING],
          ["candidate", row?.words[1] ?? MISSING],
          ...(masks && row?.n !== null ? ([["pixels", String(row?.n)]] as [string, string][]) : []),
        ]);
      },
    },
    xAxis: axis(look, "class", { type: "category", data: all.map((row) => String(row.label)), splitLine: { show: false } }),
    yAxis: axis(look, masks ? "IoU, %" : "right, %", {
      type: "value", min: 0, max: 1, nameGap: 40,
      axisLabel: { color: look.muted, fontSize: 12, formatter: (value: number) => String(Math.round(value * 100)) },
    }),
    series: [
      marks(
        "",
        joined,
        (each) => each,
        ([at, a, b], place) => {
          const [from, to] = [place(at, a), place(at, b)];
          return [line(from.x, from.y, to.x, to.y, { stroke: look.muted })];
        },
        null,
        { encode: { x: 0, y: [1, 2] } },
      ),
      side(0),
      side(1),
    ],
  };
}
