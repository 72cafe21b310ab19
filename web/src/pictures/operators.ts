// Bars of the slowest operators, or of their kinds, kernels and precisions: sums of what the operators take.
import type { OperatorTable, Part } from "../document.ts";
import type { Option } from "../echarts.ts";
import { byKind, kindName, restName } from "../flame/profile_frames.ts";
import { count, inUnit, interval, percent, withUnit } from "../format.ts";
import type { Unit } from "../format.ts";
import type { Look } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { laneFrame, lanesHeight } from "./lanes.ts";
import { box, marks, target, whisker } from "./marks.ts";
import { choice, distortedText, operatorData, tablesOf } from "./profiled.ts";
import { scaleOf, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { measured, sentences } from "./trials.ts";

const mostBars = 25;

export interface OperatorBar {
  name: string;
  what: string; // beneath its name, in the tooltip
  value: number; // seconds, or a share where the profile is distorted
  low: number | null;
  high: number | null;
}

export type BarsBy = "operator" | "kind" | "kernel" | "precision";

export function operatorBars(table: OperatorTable, by: BarsBy): OperatorBar[] {
  const of = (time: { mean_s: number; share: number }): number => (table.distorted ? time.share : time.mean_s);
  const rest: OperatorBar = { name: restName, what: "between operators", value: of(table.rest), ...ends(table, table.rest) };
  if (by === "operator") {
    return [...table.operators.map((operator) => ({ name: operator.name, what: [operator.kind, operator.kernel, operator.precision].filter((text) => text !== "").join(", "), value: of(operator), ...ends(table, operator) })), rest];
  }
  const groups = [...byKind(table.operators.map((operator) => ({ kind: operator[by], operator })))];
  const sums = groups.map(([name, members]): OperatorBar => ({
    name: by === "kind" ? kindName(name) : name === "" ? `(no ${by} reported)` : name,
    what: count(members.length, "operator", "operators"),
    value: members.reduce((sum, { operator }) => sum + of(operator), 0),
    low: null,
    high: null,
  }));
  return [...sums.sort((a, b) => b.value - a.value), rest];
}

function ends(table: OperatorTable, time: { low_s: number | null; high_s: number | null }): { low: number | null; high: number | null } {
  return table.distorted ? { low: null, high: null } : { low: time.low_s, high: time.high_s };
}

export function slowest(part: Part): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const subjects = tablesOf(profile);
  const [first] = subjects;
  if (first === undefined) return [];
  let [chosen, by]: [typeof first, BarsBy] = [first, "operator"];
  const every = (): OperatorBar[] => operatorBars(chosen.table, by);
  // The rest is the last of them, and always there.
  const shown = (): OperatorBar[] => (every().length <= mostBars ? every() : [...every().slice(0, mostBars - 1), ...every().slice(-1)]);
  const picture: ChartPicture = {
    kind: "chart",
    id: "slowest",
    short: "Slowest operators",
    title: "The slowest operators, and kinds of operators",
    reads: "Mean time per inference. The line over a bar's end is its 95 % interval over processes; sums of several operators have none. (rest) is what no operator explains.",
    note: () => sentences(distortedText(chosen.table), shown().length < every().length ? `The ${shown().length - 1} slowest of ${every().length - 1} are drawn; the data have all of them.` : ""),
    controls: [
      ...(subjects.length > 1 ? [choice("Subject", subjects.map(({ subject }, index) => [String(index), m.names[subject] ?? ""]), (value) => (chosen = subjects[Number(value)] ?? first))] : []),
      choice("By", [["operator", "Operator"], ["kind", "Kind"], ["kernel", "Kernel"], ["precision", "Precision"]], (value) => (by = value as BarsBy)),
    ],
    height: (width) => lanesHeight(shown().length, width, 24),
    option: (look, width) => option(shown(), chosen.table, look, width),
    data: () => (by === "operator" ? operatorData(chosen.table, m.names[chosen.subject] ?? "") : sumsData(every(), by, chosen.table)),
  };
  return [picture];
}

function option(bars: OperatorBar[], table: OperatorTable, look: Look, width: number): Option {
  const quantity = table.distorted ? "share" : "s";
  const scale: Scale = scaleOf(quantity, bars.flatMap(({ value, low, high }) => [value, low, high]), { zero: true });
  const { unit } = scale;
  const frame = laneFrame(bars.map((bar) => ({ text: bar.name, after: barText(bar, unit) })), look, width);
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, table.distorted ? "share of an inference" : "time per inference", scale, frame.room),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Operators",
        bars.map((bar, at) => ({ bar, at })),
        ({ bar, at }) => [bar.value / unit.factor, at],
        ({ bar, at }, place, area) => {
          const [zero, end] = [place(0, at), place(bar.value / unit.factor, at)];
          const [low, high] = bar.low === null || bar.high === null ? [null, null] : [place(bar.low / unit.factor, at), place(bar.high / unit.factor, at)];
          return [
            target(area.x, zero.y - 9, area.x + area.width, zero.y + 9),
            box(zero.x, zero.y - 6, end.x, zero.y + 6, { fill: at === bars.length - 1 ? look.muted : look.series(0).color, opacity: 0.75 }),
            ...(low === null || high === null ? [] : whisker("x", low, high, { stroke: look.text, lineWidth: 1.5 }, 3)),
          ];
        },
        ({ bar }) => tooltip(bar.name.slice(0, 200), [[bar.what.slice(0, 120), barText(bar, unit)], ...share(bar, table)]),
      ),
    ],
  };
}

function share(bar: OperatorBar, table: OperatorTable): [string, string][] {
  return table.distorted || table.wall_s === 0 ? [] : [["of an inference", percent(bar.value / table.wall_s)]];
}

function barText(bar: OperatorBar, unit: Unit): string {
  const text = withUnit(inUnit(bar.value, unit), unit);
  return bar.low === null || bar.high === null ? text : `${text} ${interval(bar.low, bar.high, unit)}`;
}

function sumsData(bars: OperatorBar[], by: string, table: OperatorTable): DataTable {
  return {
    columns: [{ title: by, numeric: false }, { title: "operators", numeric: false }, { title: table.distorted ? "share" : "time, s", numeric: true }],
    rows: bars.map((bar) => [bar.name, bar.what, bar.value]),
  };
}
