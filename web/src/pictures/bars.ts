// One figure of every subject as bars with intervals, their values beside them.
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { inUnit, interval, intervalDigits, MISSING, isUninformative, tooFew, withUnit } from "../format.ts";
import type { Unit } from "../format.ts";
import type { Look } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, Control, DataTable, Picture } from "../picture.ts";
import { countersOf, figuresOf } from "./figures.ts";
import type { Figure, Value } from "./figures.ts";
import { laneFrame, lanesHeight } from "./lanes.ts";
import { box, marks, target, whisker } from "./marks.ts";
import { estimateRows } from "./metric.ts";
import { scaleOf, valueAxis } from "./scale.ts";
import { leftOut, mostSubjects, sentences } from "./trials.ts";
import type { Measured } from "./trials.ts";

export function bars(m: Measured): Picture[] {
  return chart(m, figuresOf(m), "figures", "Numbers of every subject", "Number");
}

export function counters(m: Measured): Picture[] {
  return chart(m, countersOf(m), "counters", "What the back ends counted", "Counter");
}

type Order = "plan" | "smallest" | "largest";

export interface Bar {
  subject: number;
  value: Value;
}

// Subjects without a value are last.
export function sortedBars(all: Bar[], order: Order): Bar[] {
  if (order === "plan") return all;
  const sign = order === "smallest" ? 1 : -1;
  const key = ({ value }: Bar): number => (value.value === null ? Infinity : sign * value.value);
  return [...all].sort((a, b) => (key(a) === key(b) ? a.subject - b.subject : key(a) - key(b)));
}

const height = 26;

function chart(m: Measured, figures: Figure[], id: string, title: string, label: string): Picture[] {
  const [first] = figures;
  if (first === undefined) return [];
  let [figure, order]: [Figure, Order] = [first, "plan"];
  const every = (): Bar[] => sortedBars(m.subjects.map((each) => ({ subject: each.index, value: figure.of(each.index) })), order);
  const shown = (): Bar[] => every().slice(0, mostSubjects);
  const controls: Control[] = [
    { label, choices: figures.map((each) => ({ value: each.id, label: visible(each.title) })), value: first.id, change: (value) => (figure = figures.find((each) => each.id === value) ?? figure) },
  ];
  if (m.subjects.length > 1) {
    controls.push({
      label: "Order",
      choices: [
        { value: "plan", label: "As planned" },
        { value: "smallest", label: "Smallest first" },
        { value: "largest", label: "Largest first" },
      ],
      value: "plan",
      change: (value) => (order = value as Order),
    });
  }
  const picture: ChartPicture = {
    kind: "chart",
    id,
    title,
    reads: "Bars begin at zero. The line over a bar's end is the interval of its estimate, the figures beside it are the estimate and that interval.",
    note: () => sentences(reasons(shown(), m.names), leftOut(shown().length, every().length)),
    controls,
    data: () => table(m, figures),
    lanes: () => shown().map((bar) => bar.subject),
    height: (width) => lanesHeight(shown().length, width, height),
    option: (look, width) => option(shown(), figure, m.names, look, width),
  };
  return [picture];
}

// Why a bar is not there, or has no interval.
function reasons(shown: Bar[], names: string[]): string {
  const without = shown.filter(({ value }) => value.value === null && (value.note ?? "") !== "");
  const text = without.slice(0, 4).map(({ subject, value }) => `${names[subject] ?? ""}: ${value.note ?? ""}`);
  return without.length === 0 ? "" : `Without a value: ${text.join("; ")}${without.length > 4 ? `, and ${without.length - 4} more` : ""}.`;
}

function valueText(value: Value, unit: Unit): string {
  if (value.value === null) return MISSING;
  const between = value.interval === null || isUninformative(value.value, value.interval.low, value.interval.high) ? null : value.interval;
  const text = withUnit(inUnit(value.value, unit, between === null ? 3 : intervalDigits(between.low, between.high, unit)), unit);
  if (value.interval === null) return text;
  return `${text} ${between === null ? tooFew : interval(between.low, between.high, unit)}`;
}

function option(shown: Bar[], figure: Figure, names: string[], look: Look, width: number): Option {
  const scale = scaleOf(figure.quantity, shown.flatMap(({ value }) => [value.value, value.interval?.low, value.interval?.high]), { zero: true });
  const unit = figure.unit === "" ? scale.unit : { name: visible(figure.unit), factor: scale.unit.factor };
  const frame = laneFrame(shown.map(({ subject, value }) => ({ text: names[subject] ?? "", after: valueText(value, unit) })), look, width);
  const drawn = shown.flatMap((bar, at) => (bar.value.value === null ? [] : [{ bar, at, value: bar.value.value / unit.factor }]));
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, visible(figure.title), { ...scale, unit }, frame.room),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Bars",
        drawn,
        ({ at, value }) => [value, at],
        ({ bar, at, value }, place, area) => {
          const [zero, end] = [place(0, at), place(value, at)];
          const between = bar.value.interval;
          const [low, high] = between === null ? [null, null] : [place(between.low / unit.factor, at), place(between.high / unit.factor, at)];
          return [
            target(area.x, zero.y - 9, area.x + area.width, zero.y + 9),
            box(zero.x, zero.y - 7, end.x, zero.y + 7, { fill: look.series(0).color, opacity: 0.75 }),
            ...(low === null || high === null ? [] : whisker("x", low, high, { stroke: look.text, lineWidth: 1.5 }, 4)),
          ];
        },
        ({ bar }) => tooltip(names[bar.subject] ?? "", estimateRows(figure.title, figure.quantity, bar.value, figure.unit)),
      ),
    ],
  };
}

function table(m: Measured, figures: Figure[]): DataTable {
  const base = { s: "s", bytes: "bytes", "items/s": "items/s" } as Record<string, string>;
  const unitOf = (figure: Figure): string => base[figure.quantity] ?? (figure.quantity === "share" ? "share" : figure.unit);
  const named = (figure: Figure): string => (unitOf(figure) === "" ? figure.title : `${figure.title}, ${unitOf(figure)}`);
  return {
    columns: [
      { title: "subject", numeric: false },
      ...figures.flatMap((figure) => [
        { title: named(figure), numeric: true },
        { title: "low", numeric: true },
        { title: "high", numeric: true },
      ]),
    ],
    rows: m.subjects.map((subject) => [
      m.names[subject.index] ?? "",
      ...figures.flatMap((figure) => {
        const value = figure.of(subject.index);
        return [value.value, value.interval?.low ?? null, value.interval?.high ?? null];
      }),
    ]),
  };
}
