// One inference as it went: its operators in time, thread by thread, those within others beneath them.
import type { OperatorTimeline, Part, ProfiledOperator } from "../document.ts";
import { shortened, visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { byKind, kindName } from "../flame/profile_frames.ts";
import { count, format, percent, unitFor } from "../format.ts";
import type { Unit } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { mixed } from "../flame/scene.ts";
import { laneFrame, lanesHeight } from "./lanes.ts";
import { box, line, marks } from "./marks.ts";
import { choice, distortedText, tablesOf } from "./profiled.ts";
import { tickText } from "./scale.ts";
import { measured, sentences } from "./trials.ts";

const mostEvents = 4000;
const mostThreads = 24;
const mostKinds = 7; // with a colour of their own

export interface TimelineEvent {
  op: number;
  thread: number;
  begin: number;
  duration: number;
  level: number; // of how many others it lies within
}

// In order of begin; of those that begin together the longer encloses the other.
export function eventsOf(timeline: OperatorTimeline): TimelineEvent[] {
  const all = timeline.op.map((op, index): TimelineEvent => ({ op, thread: timeline.thread[index] ?? 0, begin: timeline.begin_s[index] ?? 0, duration: timeline.duration_s[index] ?? 0, level: 0 }));
  all.sort((a, b) => a.thread - b.thread || a.begin - b.begin || b.duration - a.duration);
  let open: TimelineEvent[] = [];
  for (const event of all) {
    open = open.filter((outer) => outer.thread === event.thread && outer.begin + outer.duration > event.begin + 1e-9);
    event.level = open.length;
    open.push(event);
  }
  return all;
}

interface Lanes {
  subject: string;
  timeline: OperatorTimeline;
  operators: Map<number, ProfiledOperator>;
  kinds: string[]; // those that take longest first
  events: TimelineEvent[];
  threads: number[];
  distorted: string;
}

export function operatorTimeline(part: Part): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const subjects = tablesOf(profile).flatMap(({ subject, table }): Lanes[] => {
    if (table.timeline === null || table.timeline.op.length === 0) return [];
    const kinds = [...byKind(table.operators)].map(([kind, members]) => ({ kind, time: members.reduce((sum, each) => sum + each.mean_s, 0) }));
    const events = eventsOf(table.timeline);
    return [
      {
        subject: m.names[subject] ?? "",
        timeline: table.timeline,
        operators: new Map(table.operators.map((operator) => [operator.op, operator])),
        kinds: kinds.sort((a, b) => b.time - a.time).map(({ kind }) => kind),
        events,
        threads: [...new Set(events.map((event) => event.thread))].slice(0, mostThreads),
        distorted: distortedText(table),
      },
    ];
  });
  const [first] = subjects;
  if (first === undefined) return [];
  let chosen = first;
  const picture: ChartPicture = {
    kind: "chart",
    id: "operator-timeline",
    short: "One inference",
    title: "One inference, operator by operator",
    reads: "Each bar is a call of an operator, where it was in time, in the lane of its thread; a call within another lies beneath it. It is the inference whose time is nearest to its process's median.",
    note: () =>
      sentences(
        `Process ${chosen.timeline.process + 1}, iteration ${chosen.timeline.iteration + 1}: ${format("s", chosen.timeline.wall_s)}.`,
        chosen.distorted === "" ? "" : "Profiling slowed it by more than 5 %: the order is right, the times are not those of the timed runs.",
        chosen.events.length > mostEvents ? `The ${mostEvents} longest of ${count(chosen.events.length, "call", "calls")} are drawn; the data have all of them.` : "",
      ),
    controls: subjects.length > 1 ? [choice("Subject", subjects.map(({ subject }, index) => [String(index), subject]), (value) => (chosen = subjects[Number(value)] ?? first))] : [],
    height: (width) => lanesHeight(chosen.threads.length, width, laneRoom(chosen)),
    option: (look, width) => option(chosen, look, width),
    legend: (look) => legendOf(chosen).map((kind, index) => ({ name: kind, look: lookOf(index, look) })),
    data: () => data(chosen),
  };
  return [picture];
}

const deepest = (lanes: Lanes): number => Math.min(6, lanes.events.reduce((most, event) => Math.max(most, event.level + 1), 1));
const laneRoom = (lanes: Lanes): number => Math.max(44, 24 * deepest(lanes) + 12);

const others = "all others";
function legendOf(lanes: Lanes): string[] {
  const named = lanes.kinds.slice(0, mostKinds).map((kind) => visible(shortened(kindName(kind), 60)));
  return [...new Set(lanes.kinds.length > mostKinds ? [...named, others] : named)];
}

function lookOf(index: number, look: Look): SeriesLook {
  const own = index < mostKinds ? look.series(index) : { ...look.series(index), color: look.muted };
  return { ...own, symbol: "rect", dash: [0, 40] };
}

function option(lanes: Lanes, look: Look, width: number): Option {
  const unit = unitFor("s", lanes.timeline.wall_s);
  const frame = laneFrame(lanes.threads.map((thread) => ({ text: thread === 0 ? "main thread" : `thread ${thread}` })), look, width);
  const drawn = [...lanes.events].filter((event) => lanes.threads.includes(event.thread)).sort((a, b) => b.duration - a.duration).slice(0, mostEvents);
  const legend = legendOf(lanes);
  const seriesOf = (event: TimelineEvent): number => {
    const at = lanes.kinds.indexOf(lanes.operators.get(event.op)?.kind ?? "");
    return at >= 0 && at < mostKinds ? at : mostKinds;
  };
  const end = lanes.events.reduce((last, event) => Math.max(last, event.begin + event.duration), lanes.timeline.wall_s);
  return {
    grid: frame.grid,
    xAxis: axis(look, `since the inference began, ${unit.name}`, { type: "value", min: 0, max: Number(((end / unit.factor) * 1.01).toPrecision(3)), axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, formatter: tickText, showMaxLabel: false } }),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [...legend.map((name, index) => calls(name, drawn.filter((event) => seriesOf(event) === index), lanes, lookOf(index, look).color, unit, look)), wall(lanes, unit, look)],
  };
}

function calls(name: string, events: TimelineEvent[], lanes: Lanes, color: string, unit: Unit, look: Look): Option {
  const rows = deepest(lanes);
  const fill = mixed(look.panel, color, 0.55);
  return marks(
    name,
    events,
    (event) => [event.begin / unit.factor, lanes.threads.indexOf(event.thread), (event.begin + event.duration) / unit.factor],
    (event, place, area) => {
      const at = lanes.threads.indexOf(event.thread);
      const [from, to] = [place(event.begin / unit.factor, at), place((event.begin + event.duration) / unit.factor, at)];
      const [left, right] = [Math.max(from.x, area.x), Math.min(to.x, area.x + area.width)];
      if (right < left) return [];
      const level = Math.min(event.level, rows - 1);
      const top = from.y - 12 * rows + 24 * level + 2;
      const shown = Math.max(0.5, right - left - (right - left > 3 ? 1 : 0));
      const shape = box(left, top, left + shown, top + 20, { fill, stroke: color, lineWidth: shown > 6 ? 1 : 0 });
      if (shown < 34) return [shape];
      const text = shortened(visible(lanes.operators.get(event.op)?.name ?? "").slice(0, 300), Math.floor((shown - 8) / 6.8));
      return [shape, { type: "text", silent: true, style: { text, x: left + 4, y: top + 10, verticalAlign: "middle", fill: look.text, font: `12px ${look.font}` } }];
    },
    (event) => tip(event, lanes),
    { encode: { x: [0, 2], y: 1 } },
  );
}

// Where the inference ended.
function wall(lanes: Lanes, unit: Unit, look: Look): Option {
  return marks(
    "End",
    [lanes.timeline.wall_s / unit.factor],
    (end) => [end, 0],
    (end, place, area) => {
      const { x } = place(end, 0);
      return x > area.x + area.width + 1 || x < area.x ? [] : [line(x, area.y, x, area.y + area.height, { stroke: look.text, lineWidth: 1, lineDash: [4, 3] })];
    },
    null,
  );
}

function tip(event: TimelineEvent, lanes: Lanes): HTMLElement {
  const operator = lanes.operators.get(event.op);
  return tooltip((operator?.name ?? `operator ${event.op}`).slice(0, 120), [
    ["kind", (operator?.kind ?? "").slice(0, 80)],
    ["kernel", (operator?.kernel ?? "").slice(0, 80)],
    ["begun after", format("s", event.begin)],
    ["took", format("s", event.duration)],
    ["of this inference", percent(event.duration / lanes.timeline.wall_s)],
  ]);
}

function data(lanes: Lanes): DataTable {
  return {
    columns: ["subject", "operator", "kind"].map((title) => ({ title, numeric: false })).concat(["thread", "begun after, s", "took, s", "within"].map((title) => ({ title, numeric: true }))),
    rows: lanes.events.map((event) => [lanes.subject, lanes.operators.get(event.op)?.name ?? String(event.op), lanes.operators.get(event.op)?.kind ?? "", event.thread, event.begin, event.duration, event.level]),
  };
}
