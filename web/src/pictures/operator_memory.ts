// What memory the runtime says its operators need: bars of those that need most, and its arena in their order.
import type { OperatorTable, Part, ProfiledOperator } from "../document.ts";
import type { Option } from "../echarts.ts";
import { format, inUnit, withUnit } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { Cell, ChartPicture, Control, DataTable, Picture } from "../picture.ts";
import { laneFrame, lanesHeight } from "./lanes.ts";
import { box, marks, target } from "./marks.ts";
import { choice, tablesOf } from "./profiled.ts";
import { scaleOf, valueAxis } from "./scale.ts";
import { measured } from "./trials.ts";

const mostBars = 25;

interface Measure {
  id: string;
  name: string;
  of(operator: ProfiledOperator): number | null;
}

const parts = ["activation_bytes", "parameter_bytes", "output_bytes"] as const;
const measures: Measure[] = [
  { id: "together", name: "Inputs, parameters and outputs", of: (operator) => (parts.every((part) => operator[part] === null) ? null : parts.reduce((sum, part) => sum + (operator[part] ?? 0), 0)) },
  { id: "outputs", name: "Outputs", of: (operator) => operator.output_bytes },
  { id: "inputs", name: "Inputs", of: (operator) => operator.activation_bytes },
  { id: "parameters", name: "Parameters", of: (operator) => operator.parameter_bytes },
  { id: "arena", name: "Arena in use after it", of: (operator) => operator.arena_in_use_bytes },
];

interface Subject {
  name: string;
  operators: ProfiledOperator[];
}

function tells(table: OperatorTable, of: Measure): boolean {
  return table.operators.some((operator) => (of.of(operator) ?? null) !== null);
}

function subjectsOf(part: Part, of: Measure[]): Subject[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  return tablesOf(profile).filter(({ table }) => of.some((each) => tells(table, each))).map(({ subject, table }) => ({ name: m.names[subject] ?? "", operators: table.operators }));
}

function subjectChoice(subjects: Subject[], change: (subject: Subject) => void): Control[] {
  return subjects.length > 1 ? [choice("Subject", subjects.map(({ name }, index) => [String(index), name]), (value) => change(subjects[Number(value)] as Subject))] : [];
}

export function largestFirst(operators: ProfiledOperator[], of: (operator: ProfiledOperator) => number | null): { operator: ProfiledOperator; bytes: number }[] {
  return operators.flatMap((operator) => {
    const bytes = of(operator) ?? null;
    return bytes === null ? [] : [{ operator, bytes }];
  }).sort((a, b) => b.bytes - a.bytes || a.operator.op - b.operator.op);
}

export function byMemory(part: Part): Picture[] {
  const subjects = subjectsOf(part, measures);
  const [first] = subjects;
  if (first === undefined) return [];
  const reported = measures.filter((each) => subjects.some(({ operators }) => operators.some((operator) => (each.of(operator) ?? null) !== null)));
  let [chosen, by] = [first, reported[0] as Measure];
  const every = (): ReturnType<typeof largestFirst> => largestFirst(chosen.operators, by.of);
  const shown = (): ReturnType<typeof largestFirst> => every().slice(0, mostBars);
  const picture: ChartPicture = {
    kind: "chart",
    id: "operators-by-memory",
    title: "Operators by memory",
    reads: "Bytes of what an operator reads and writes, and what the runtime's arena had in use when it had ended, as reported by the runtime. One operator's outputs are others' inputs: the bars do not add up to the model's memory.",
    note: () => (every().length === 0 ? `Of ${chosen.name} the runtime does not report it.` : shown().length < every().length ? `The ${shown().length} largest of ${every().length} are drawn; the data have all of them.` : ""),
    controls: [
      ...subjectChoice(subjects, (subject) => (chosen = subject)),
      choice("By", reported.map(({ id, name }) => [id, name]), (value) => (by = reported.find(({ id }) => id === value) ?? by)),
    ],
    height: (width) => lanesHeight(Math.max(1, shown().length), width, 24),
    option: (look, width) => barsOption(shown(), by.name.toLowerCase(), look, width),
    data: () => table(chosen),
  };
  return [picture];
}

function barsOption(bars: { operator: ProfiledOperator; bytes: number }[], what: string, look: Look, width: number): Option {
  const scale = scaleOf("bytes", bars.map(({ bytes }) => bytes), { zero: true });
  const text = (bytes: number): string => withUnit(inUnit(bytes, scale.unit), scale.unit);
  const frame = laneFrame(bars.map(({ operator, bytes }) => ({ text: operator.name, after: text(bytes) })), look, width);
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, what, scale, frame.room),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Operators",
        bars.map((bar, at) => ({ ...bar, at })),
        ({ bytes, at }) => [bytes / scale.unit.factor, at],
        ({ bytes, at }, place, area) => {
          const [zero, end] = [place(0, at), place(bytes / scale.unit.factor, at)];
          return [target(area.x, zero.y - 9, area.x + area.width, zero.y + 9), box(zero.x, zero.y - 6, end.x, zero.y + 6, { fill: look.series(0).color, opacity: 0.75 })];
        },
        ({ operator }) => tip(operator),
      ),
    ],
  };
}

function tip(operator: ProfiledOperator): HTMLElement {
  const rows: [string, number | null][] = [["inputs", operator.activation_bytes], ["parameters", operator.parameter_bytes], ["outputs", operator.output_bytes], ["arena in use after it", operator.arena_in_use_bytes], ["arena, peak up to then", operator.arena_peak_bytes]];
  return tooltip(operator.name.slice(0, 200), [["kind", operator.kind.slice(0, 120)], ...rows.flatMap(([title, bytes]): [string, string][] => ((bytes ?? null) === null ? [] : [[title, format("bytes", bytes)]]))]);
}

const arenaMeasures: Measure[] = [
  { id: "in_use", name: "Arena in use", of: (operator) => operator.arena_in_use_bytes },
  { id: "peak", name: "Arena, peak up to then", of: (operator) => operator.arena_peak_bytes },
];
const besides: Measure[] = [
  { id: "inputs", name: "Inputs of the operator", of: (operator) => operator.activation_bytes },
  { id: "outputs", name: "Outputs of the operator", of: (operator) => operator.output_bytes },
];

export function arenaInOrder(part: Part): Picture[] {
  const subjects = subjectsOf(part, arenaMeasures);
  const [first] = subjects;
  if (first === undefined) return [];
  let chosen = first;
  const all = [...arenaMeasures, ...besides];
  const looks = (look: Look): SeriesLook[] => all.map((_, index) => look.series(index));
  const picture: ChartPicture = {
    kind: "chart",
    id: "arena",
    short: "Arena",
    title: "The runtime's arena, operator by operator",
    reads: "In the order in which operators run, from left to right: what the arena had in use when each had ended, the most that it had in use up to then since the session began, and beside it what the operator itself reads and writes. A level line: the runtime planned all buffers at once.",
    controls: subjectChoice(subjects, (subject) => (chosen = subject)),
    height: () => 340,
    option: (look, width) => arenaOption(inOrder(chosen.operators), all, looks(look), look, width),
    data: () => table(chosen),
    legend: (look) => all.map(({ name }, index) => ({ name, look: looks(look)[index] as SeriesLook })),
  };
  return [picture];
}

function inOrder(operators: ProfiledOperator[]): ProfiledOperator[] {
  return [...operators].sort((a, b) => a.op - b.op);
}

function arenaOption(operators: ProfiledOperator[], all: Measure[], looks: SeriesLook[], look: Look, width: number): Option {
  const scale = scaleOf("bytes", all.flatMap(({ of }) => operators.map(of)), { zero: true });
  return {
    grid: { left: 62, right: 18, top: 14, bottom: 48 },
    xAxis: axis(look, "operator, in order of execution", {
      type: "value", min: 1, max: Math.max(2, operators.length), minInterval: 1, splitLine: { show: false }, splitNumber: Math.max(2, Math.floor(width / 100)),
      axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true },
    }),
    yAxis: valueAxis(look, "memory", scale, 290, { nameGap: 44 }, true),
    tooltip: { trigger: "item" },
    series: all.map(({ name, of }, index) => {
      const own = looks[index] as SeriesLook;
      return {
        type: "line",
        name,
        data: operators.map((operator, place) => [place + 1, ((value) => (value === null ? null : value / scale.unit.factor))(of(operator) ?? null)]),
        symbol: own.symbol,
        symbolSize: operators.length > width / 10 ? 2 : 5,
        showAllSymbol: true,
        lineStyle: { color: own.color, type: own.dash, width: 1.6 },
        itemStyle: { color: own.color },
        tooltip: { formatter: (hit: { dataIndex: number }) => tip(operators[hit.dataIndex] as ProfiledOperator) },
      };
    }),
  };
}

function table(subject: Subject): DataTable {
  const titles = ["inputs, bytes", "parameters, bytes", "outputs, bytes", "arena in use after it, bytes", "arena peak, bytes"];
  return {
    columns: [{ title: "subject", numeric: false }, { title: "place", numeric: true }, { title: "operator", numeric: false }, { title: "kind", numeric: false }, ...titles.map((title) => ({ title, numeric: true }))],
    rows: inOrder(subject.operators).map((each): Cell[] => [subject.name, each.op + 1, each.name, each.kind, each.activation_bytes, each.parameter_bytes, each.output_bytes, each.arena_in_use_bytes ?? null, each.arena_peak_bytes]),
  };
}
