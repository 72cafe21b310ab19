// Memory of processes over time, as it was seen from outside, with the phases that they went through.
import type { MemoryTimeline, Trial } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, format } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { Cell, ChartPicture, DataTable, Picture } from "../picture.ts";
import { box, marks, target } from "./marks.ts";
import { middleProcess } from "./memory.ts";
import { choice } from "./profiled.ts";
import { scaleOf, tickText, valueAxis } from "./scale.ts";
import { leftOut, mostSubjects, sentences, subjectControl, trialsOf } from "./trials.ts";
import type { Measured } from "./trials.ts";

const mostProcesses = 40;

type Phase = MemoryTimeline["phase"][number];

export interface MemoryPoint {
  at: number; // seconds since the trial's origin
  phase: Phase;
  bytes: number;
}

export interface Band {
  phase: Phase;
  begin: number;
  end: number;
}

interface Row {
  trial: Trial;
  name: string;
  series: number; // of looks
  points: MemoryPoint[];
}

const phaseNames: Record<Phase, string> = {
  start: "start", load: "load", compile: "compile", inputs: "inputs", first_inference: "first inference", warmup: "warm-up", timed: "timed", outputs: "outputs", done: "end",
};
const phaseName = (phase: Phase): string => (Object.hasOwn(phaseNames, phase) ? phaseNames[phase] : visible(phase));

export function pointsOf(trial: Trial): MemoryPoint[] {
  const { at_s, phase, rss_bytes } = trial.memory_timeline ?? { at_s: [], phase: [], rss_bytes: [] };
  return at_s.map((at, index) => ({ at, phase: phase[index] ?? "start", bytes: rss_bytes[index] ?? 0 }));
}

// From the first reading in each phase to that in the next.
export function bandsOf(points: MemoryPoint[]): Band[] {
  const first = points.filter((point, index) => point.phase !== points[index - 1]?.phase);
  return first.map(({ phase, at }, index) => ({ phase, begin: index === 0 ? 0 : at, end: first[index + 1]?.at ?? points.at(-1)?.at ?? at }));
}

export function memoryOverTime(m: Measured): Picture[] {
  const subjects = m.subjects.map((each) => each.index).filter((subject) => rowsOf(m, subject).length > 0);
  if (subjects.length === 0) return [];
  let subject: number | null = subjects.length > 1 ? null : (subjects[0] as number);
  let whole = true;
  const every = (): Row[] => (subject === null ? oneOfEach(m, subjects) : rowsOf(m, subject));
  const shown = (): Row[] => every().slice(0, subject === null ? mostSubjects : mostProcesses);
  // With many lines the bands are of the one in the middle, and of none where subjects differ.
  const banded = (): Row | null => {
    const rows = shown();
    if (rows.length === 1) return rows[0] ?? null;
    const middle = subject === null ? null : middleProcess(rows.map((row) => row.trial));
    return rows.find((row) => row.trial === middle) ?? (subject === null ? null : (rows[0] ?? null));
  };
  const picture: ChartPicture = {
    kind: "chart",
    id: "memory-timeline",
    title: "Memory over time",
    reads: "Resident memory of the process, read from outside every 20 ms until warm-up and every 50 ms from there on; shorter spikes are missed. A symbol is the first reading in a phase.",
    note: () => notes(shown(), every().length, subject, banded()),
    controls: [
      ...(subjects.length > 1 ? [subjectControl(subjects, m.names, "one process of each subject", (chosen) => (subject = chosen))] : []),
      choice("Until", [["whole", "its end"], ["ready", "it is timed"]], (value) => (whole = value === "whole")),
    ],
    data: () => table(m),
    height: (width) => (width < 620 ? 330 : 380),
    option: (look, width) => option(shown(), banded(), whole, look, width),
    legend: (look) => shown().map((row) => ({ name: row.name, look: look.series(row.series) })),
  };
  return [picture];
}

function rowsOf(m: Measured, subject: number): Row[] {
  return trialsOf(m.run, subject)
    .filter((trial) => pointsOf(trial).length > 1)
    .map((trial): Row => ({ trial, name: `process ${trial.process + 1}${trial.end === "ok" ? "" : ` (${trial.end.replaceAll("_", " ")})`}`, series: trial.process, points: pointsOf(trial) }));
}

// The one whose peak is in the middle; where none came so far, the first.
function oneOfEach(m: Measured, subjects: number[]): Row[] {
  return subjects.flatMap((subject) => {
    const rows = rowsOf(m, subject);
    const middle = middleProcess(rows.map((row) => row.trial));
    const row = rows.find((each) => each.trial === middle) ?? rows[0];
    return row === undefined ? [] : [{ ...row, name: m.names[subject] ?? "", series: subject }];
  });
}

function notes(rows: Row[], all: number, subject: number | null, banded: Row | null): string {
  const thinned = rows.filter((row) => row.points.length < row.trial.memory_timeline.recorded);
  const most = thinned.reduce((highest, row) => Math.max(highest, row.trial.memory_timeline.recorded), 0);
  return sentences(
    subject === null && all > 1 ? "Of each subject the process with the median peak; phases are shaded where a subject is chosen." : "",
    rows.length > 1 && banded !== null ? `The shaded phases are those of ${banded.name}.` : "",
    thinned.length > 0 ? `The report holds some 60 points of up to ${count(most, "that was", "that were")} recorded of a process: each phase with its ends, its smallest and its largest.` : "",
    subject === null ? leftOut(rows.length, all) : rows.length < all ? `The first ${rows.length} of ${all} processes are drawn; the data have all of them.` : "",
  );
}

function untilTimed(points: MemoryPoint[]): MemoryPoint[] {
  const timed = points.findIndex((point) => point.phase === "timed");
  return timed < 0 ? points : points.slice(0, timed + 1);
}

function option(all: Row[], banded: Row | null, whole: boolean, look: Look, width: number): Option {
  const rows = all.map((row) => ({ ...row, points: whole ? row.points : untilTimed(row.points) }));
  const scale = scaleOf("bytes", rows.flatMap((row) => row.points.map((point) => point.bytes)), { zero: true });
  const end = Math.max(...rows.map((row) => row.points.at(-1)?.at ?? 0));
  const [left, right] = [62, 18];
  const ofBands = rows.find((row) => row.trial === banded?.trial);
  return {
    grid: { left, right, top: 24, bottom: 48 },
    xAxis: axis(look, "since the process began, s", {
      type: "value",
      min: 0,
      max: Number((end * 1.02 || 1).toPrecision(3)),
      splitLine: { show: false },
      axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, showMaxLabel: false, formatter: tickText },
      splitNumber: Math.max(3, Math.floor((width - left - right) / 90)),
    }),
    yAxis: valueAxis(look, "resident memory", scale, 300, { nameGap: 44 }, true),
    tooltip: { trigger: "item" },
    series: [bands(ofBands === undefined ? [] : bandsOf(ofBands.points), ofBands?.name ?? "", scale.high, look), ...rows.map((row) => lineOf(row, scale.unit.factor, look.series(row.series)))],
  };
}

const perCharacter = 6.4; // pixels at 11 px

function bands(all: Band[], name: string, high: number, look: Look): Option {
  return marks(
    "Phases",
    all.map((band, index) => ({ band, index })),
    ({ band }) => [band.begin, high, band.end],
    ({ band, index }, place, area) => {
      const x1 = Math.max(area.x, place(band.begin, high).x);
      const x2 = Math.min(area.x + area.width, place(band.end, high).x);
      if (x2 <= x1) return [];
      const text = phaseName(band.phase);
      const label = text.length * perCharacter + 6 > x2 - x1 ? [] : [{ type: "text", style: { text, x: x1 + 4, y: area.y - 15, fill: look.muted, font: `11px ${look.font}` } }];
      return [box(x1, area.y, x2, area.y + area.height, { fill: look.muted, opacity: index % 2 === 0 ? 0.15 : 0.05 }), target(x1, area.y - 16, x2, area.y + area.height), ...label];
    },
    ({ band }) => tooltip(phaseName(band.phase), [["begun after", format("s", band.begin)], ["took", format("s", band.end - band.begin)], ["of", name]]),
    { z: 1, clip: false, encode: { x: [0, 2], y: 1 } },
  );
}

function lineOf(row: Row, factor: number, own: SeriesLook): Option {
  return {
    type: "line",
    name: row.name,
    data: row.points.map((point, index) => ({ value: [point.at, point.bytes / factor], symbolSize: point.phase === row.points[index - 1]?.phase ? 3 : 8 })),
    symbol: own.symbol,
    showAllSymbol: true,
    lineStyle: { color: own.color, type: own.dash, width: 1.8 },
    itemStyle: { color: own.color },
    z: 3,
    tooltip: {
      formatter: (hit: { dataIndex: number }) => {
        const point = row.points[hit.dataIndex] as MemoryPoint;
        return tooltip(row.name, [["resident", format("bytes", point.bytes, 5)], ["after", format("s", point.at)], ["phase", phaseName(point.phase)], ["process", String(row.trial.process + 1)]]);
      },
    },
  };
}

function table(m: Measured): DataTable {
  return {
    columns: [
      { title: "subject", numeric: false },
      { title: "process", numeric: true },
      { title: "ended", numeric: false },
      { title: "since it began, s", numeric: true },
      { title: "phase", numeric: false },
      { title: "resident memory, bytes", numeric: true },
    ],
    rows: m.subjects.flatMap(({ index }) =>
      rowsOf(m, index).flatMap(({ trial, points }) => points.map((point): Cell[] => [m.names[index] ?? "", trial.process + 1, trial.end.replaceAll("_", " "), point.at, phaseName(point.phase), point.bytes])),
    ),
  };
}
