// Loads: what happened when, and response times by percentile with a logarithmic tail.
import type { LoadProcess, SubjectLoad } from "../document.ts";
import type { Option } from "../echarts.ts";
import { format } from "../format.ts";
import type { Quantity } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { choice } from "./profiled.ts";
import { isWide, scaleOf, tickText, valueAxis } from "./scale.ts";
import { leftOut, mostSubjects, subjectControl } from "./trials.ts";
import type { Measured } from "./trials.ts";

interface Line {
  name: string;
  series: number; // of looks
  process: LoadProcess;
}

// The first process of each subject, or every process of one.
function linesOf(m: Measured, subject: number | null): Line[] {
  const loads = m.subjects.flatMap((each) => (each.load === undefined ? [] : [{ index: each.index, load: each.load as SubjectLoad }]));
  if (subject === null) {
    return loads.flatMap(({ index, load }) => {
      const [first] = load.processes;
      return first === undefined ? [] : [{ name: m.names[index] ?? "", series: index, process: first }];
    });
  }
  const chosen = loads.find(({ index }) => index === subject);
  return (chosen?.load.processes ?? []).map((process) => ({ name: `process ${process.process + 1}`, series: process.process, process }));
}

export function loadPictures(m: Measured): Picture[] {
  const subjects = m.subjects.filter((each) => (each.load?.processes.length ?? 0) > 0).map((each) => each.index);
  return subjects.length === 0 ? [] : [...againstRate(m), tail(m, subjects), overTime(m, subjects)];
}

interface Point {
  subject: number;
  rate: number;
  response: number;
  holds: boolean;
}

type Response = "response_p50" | "response_p90" | "response_p99" | "ttft_p99" | "tpot_p99" | "goodput";
const responses: Record<Response, [string, Quantity]> = {
  response_p99: ["response p99", "s"],
  response_p90: ["response p90", "s"],
  response_p50: ["response p50", "s"],
  ttft_p99: ["TTFT p99", "s"],
  tpot_p99: ["TPOT p99", "s"],
  goodput: ["goodput", "items/s"],
};

// A subject has one rate or one number of clients: several of them are the points of a curve.
export function pointsOf(m: Measured, response: Response): Point[] {
  return m.subjects.flatMap((each) => {
    const [rate, time] = [each.load?.figures["achieved_rate"]?.value ?? null, each.load?.figures[response]];
    return rate === null || time === undefined || time.value === null ? [] : [{ subject: each.index, rate, response: time.value, holds: time.holds }];
  });
}

function againstRate(m: Measured): Picture[] {
  let response: Response = "response_p99";
  if (pointsOf(m, response).length < 2) return [];
  const picture: ChartPicture = {
    kind: "chart",
    id: "load-rate",
    title: "Response time against throughput",
    reads: "Each point is a subject at its load. Further right is more requests per second, further down is less waiting; where points rise steeply, the limit is near. A dashed line is what was asked of the time: the point below it that is furthest to the right is the most that keeps it. Goodput is requests per second that kept all bounds.",
    note: () => (pointsOf(m, response).some((point) => !point.holds) ? "Hollow: the response time is not what it seems to be (too few requests, or more than the subject can take)." : ""),
    controls: [choice("Against", (Object.keys(responses) as Response[]).filter((each) => pointsOf(m, each).length > 1).map((each) => [each, responses[each][0]]), (value) => (response = value as Response))],
    data: () => ({
      columns: [
        { title: "subject", numeric: false },
        { title: "completed per second", numeric: true },
        { title: `${responses[response][0]}, ${responses[response][1]}`, numeric: true },
        { title: "holds", numeric: false },
      ],
      rows: pointsOf(m, response).map((point) => [m.names[point.subject] ?? "", point.rate, point.response, point.holds ? "yes" : "no"]),
    }),
    height: () => 360,
    zoom: "xy",
    option: (look, width) => rateOption(m, pointsOf(m, response), boundsOf(m, response), ...responses[response], look, width),
    legend: (look) => pointsOf(m, response).slice(0, mostSubjects).map((point) => ({ name: m.names[point.subject] ?? "", look: look.series(point.subject) })),
  };
  return [picture];
}

// What was asked of that time, of any subject; each once.
export function boundsOf(m: Measured, response: string): number[] {
  const asked = m.subjects.flatMap((each) => each.load?.bounds ?? []).filter(({ figure }) => response === figure || response.startsWith(`${figure}_`));
  return [...new Set(asked.map((each) => each.bound_s))].sort((a, b) => a - b);
}

function rateOption(m: Measured, points: Point[], bounds: number[], title: string, quantity: Quantity, look: Look, width: number): Option {
  const values = [...points.map((point) => point.response), ...bounds];
  const vertical = scaleOf(quantity, values, isWide(values) ? { log: true } : { zero: true });
  const horizontal = scaleOf("items/s", points.map((point) => point.rate), { zero: true });
  return {
    grid: { left: 62, right: 24, top: 16, bottom: 48 },
    xAxis: valueAxis(look, "completed", horizontal, width - 86),
    yAxis: valueAxis(look, title, vertical, 300, { nameGap: 44 }),
    tooltip: { trigger: "item" },
    series: [...bounds.map((bound) => boundLine(bound, horizontal.high, vertical.unit.factor, look)), ...points.slice(0, mostSubjects).map((point) => {
      const own = look.series(point.subject);
      const name = m.names[point.subject] ?? "";
      return {
        type: "scatter",
        name,
        data: [[point.rate / horizontal.unit.factor, point.response / vertical.unit.factor]],
        symbol: own.symbol,
        symbolSize: 11,
        itemStyle: { color: point.holds ? own.color : "transparent", borderColor: own.color, borderWidth: 2 },
        tooltip: { formatter: () => tooltip(name, [["completed", format("items/s", point.rate, 4)], [title, format(quantity, point.response, 4)], ...(point.holds ? [] : [["holds", "no"] as [string, string]])]) },
      };
    })],
  };
}

// From edge to edge, with its value at the right end.
function boundLine(bound: number, high: number, factor: number, look: Look): Option {
  const text = `bound ${format("s", bound)}`;
  return {
    type: "line",
    name: text,
    data: [[0, bound / factor], [high, bound / factor]],
    symbol: "none",
    lineStyle: { color: look.bad, type: "dashed", width: 1.5 },
    endLabel: { show: true, formatter: text, color: look.text, align: "right", verticalAlign: "bottom", offset: [-6, -8] },
    tooltip: { show: false },
    silent: true,
  };
}

type Time = "response_s" | "service_s" | "lag_s";
const times: Record<Time, string> = { response_s: "response time", service_s: "service time", lag_s: "lag" };

// p90 at 10, p99 at 100, p99.9 at 1000; the largest has no place on such an axis.
export function tailPlaces(process: LoadProcess, time: Time): { share: number; times: number; value: number }[] {
  const values = process.percentiles[time];
  return process.percentiles.share.flatMap((share, index) => {
    const value = values[index];
    return value === undefined || share >= 1 ? [] : [{ share, times: 1 / (1 - share), value }];
  });
}

export function percentileName(share: number): string {
  return `p${Number((100 * share).toPrecision(6))}`;
}

function tail(m: Measured, subjects: number[]): Picture {
  let subject: number | null = subjects.length > 1 ? null : (subjects[0] as number);
  let time: Time = "response_s";
  const every = (): Line[] => linesOf(m, subject).filter((line) => tailPlaces(line.process, time).length > 0);
  const shown = (): Line[] => every().slice(0, mostSubjects);
  const picture: ChartPicture = {
    kind: "chart",
    id: "load-tail",
    title: "Response time by percentile",
    reads: "Each step to the right leaves out nine tenths of what is left: at p99, one request of a hundred took longer. A line that turns up has a tail that an average hides.",
    note: () => leftOut(shown().length, every().length),
    controls: [
      ...(subjects.length > 1 ? [subjectControl(subjects, m.names, "the first process of each subject", (chosen) => (subject = chosen))] : []),
      choice("Time", [["response_s", times.response_s], ["service_s", times.service_s], ["lag_s", times.lag_s]], (value) => (time = value as Time)),
    ],
    data: () => tailTable(every(), time),
    height: () => 360,
    option: (look, width) => tailOption(shown(), time, look, width),
    legend: (look) => shown().map((line) => ({ name: line.name, look: look.series(line.series) })),
  };
  return picture;
}

function tailOption(lines: Line[], time: Time, look: Look, width: number): Option {
  const places = lines.map((line) => tailPlaces(line.process, time));
  const values = places.flat().map((place) => place.value);
  const scale = scaleOf("s", values, isWide(values) ? { log: true } : { zero: true });
  const most = Math.max(10, ...places.flat().map((place) => place.times));
  const ticks = [...(width < 620 ? [] : [1]), 2, 10, 100, 1000, 10_000].filter((tick) => tick <= most * 1.01);
  return {
    grid: { left: 62, right: 24, top: 16, bottom: 48 },
    xAxis: axis(look, "percentile, logarithmic towards 100 %", {
      type: "log",
      min: 1,
      max: most,
      axisTick: { show: false, customValues: ticks },
      axisLabel: { color: look.muted, fontSize: 12, customValues: ticks, formatter: (tick: number) => percentileName(1 - 1 / tick) },
    }),
    yAxis: valueAxis(look, times[time], scale, 300, { nameGap: 44 }, true),
    tooltip: { trigger: "item" },
    series: lines.map((line, index) => {
      const own = look.series(line.series);
      const points = places[index] ?? [];
      return {
        type: "line",
        name: line.name,
        data: points.map((place) => [place.times, place.value / scale.unit.factor]),
        symbol: own.symbol,
        symbolSize: 6,
        showAllSymbol: true,
        lineStyle: { color: own.color, type: own.dash, width: 1.8 },
        itemStyle: { color: own.color },
        tooltip: {
          formatter: (hit: { dataIndex: number }) => {
            const place = points[hit.dataIndex];
            return tooltip(line.name, place === undefined ? [] : [[percentileName(place.share), format("s", place.value, 4)], ["requests", String(line.process.completed)]]);
          },
        },
      };
    }),
  };
}

function tailTable(lines: Line[], time: Time): DataTable {
  return {
    columns: [
      { title: "subject or process", numeric: false },
      { title: "share of requests", numeric: true },
      { title: `${times[time]}, s`, numeric: true },
    ],
    rows: lines.flatMap((line) => line.process.percentiles.share.map((share, index) => [line.name, share, line.process.percentiles[time][index] ?? null])),
  };
}

type Course = "in_flight" | "arrived" | "completed" | "failed" | "slowest_s";
const courses: Record<Course, [string, Quantity]> = {
  in_flight: ["requests in flight", "plain"],
  arrived: ["arrived per second", "items/s"],
  completed: ["completed per second", "items/s"],
  failed: ["failed per second", "items/s"],
  slowest_s: ["slowest response", "s"],
};

export function courseOf(process: LoadProcess, course: Course): { at: number; value: number }[] {
  const { bin_s: width } = process.timeline;
  const perSecond = course === "in_flight" || course === "slowest_s" ? 1 : width;
  return process.timeline[course].map((value, index) => ({ at: (index + 1) * width, value: perSecond > 0 ? value / perSecond : 0 }));
}

function overTime(m: Measured, subjects: number[]): Picture {
  let subject: number | null = subjects.length > 1 ? null : (subjects[0] as number);
  let course: Course = "in_flight";
  const every = (): Line[] => linesOf(m, subject).filter((line) => line.process.timeline.in_flight.length > 0);
  const shown = (): Line[] => every().slice(0, mostSubjects);
  const picture: ChartPicture = {
    kind: "chart",
    id: "load-timeline",
    title: "The load over time",
    reads: "Requests in flight have arrived and not ended: those that wait, too. A line that keeps rising is more than the subject can take.",
    note: () => leftOut(shown().length, every().length),
    controls: [
      ...(subjects.length > 1 ? [subjectControl(subjects, m.names, "the first process of each subject", (chosen) => (subject = chosen))] : []),
      choice("What", (Object.keys(courses) as Course[]).map((each) => [each, courses[each][0]]), (value) => (course = value as Course)),
    ],
    data: () => courseTable(every()),
    height: () => 320,
    option: (look, width) => courseOption(shown(), course, look, width),
    legend: (look) => shown().map((line) => ({ name: line.name, look: look.series(line.series) })),
  };
  return picture;
}

function courseOption(lines: Line[], course: Course, look: Look, width: number): Option {
  const [title, quantity] = courses[course];
  const points = lines.map((line) => courseOf(line.process, course));
  const scale = scaleOf(quantity, points.flat().map((point) => point.value), { zero: true });
  const end = Math.max(...points.map((each) => each.at(-1)?.at ?? 0));
  return {
    grid: { left: 62, right: 18, top: 16, bottom: 48 },
    xAxis: axis(look, "since the load began, s", {
      type: "value",
      min: 0,
      max: Number((end || 1).toPrecision(3)),
      splitLine: { show: false },
      axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, showMaxLabel: false, formatter: tickText },
      splitNumber: Math.max(3, Math.floor((width - 80) / 90)),
    }),
    yAxis: valueAxis(look, title, scale, 260, { nameGap: 44 }, true),
    tooltip: { trigger: "item" },
    series: lines.map((line, index) => {
      const own = look.series(line.series);
      const each = points[index] ?? [];
      return {
        type: "line",
        name: line.name,
        data: each.map((point) => [point.at, point.value / scale.unit.factor]),
        symbol: each.length < 80 ? own.symbol : "none",
        symbolSize: 4,
        showAllSymbol: true,
        lineStyle: { color: own.color, type: own.dash, width: 1.6 },
        itemStyle: { color: own.color },
        tooltip: {
          formatter: (hit: { dataIndex: number }) => {
            const point = each[hit.dataIndex];
            return tooltip(line.name, point === undefined ? [] : [[title, format(quantity, point.value, 4)], ["until", format("s", point.at)]]);
          },
        },
      };
    }),
  };
}

function courseTable(lines: Line[]): DataTable {
  return {
    columns: [
      { title: "subject or process", numeric: false },
      { title: "until, s", numeric: true },
      { title: "arrived", numeric: true },
      { title: "completed", numeric: true },
      { title: "failed", numeric: true },
      { title: "in flight at the end", numeric: true },
      { title: "slowest response, s", numeric: true },
    ],
    rows: lines.flatMap(({ name, process: { timeline } }) =>
      timeline.in_flight.map((inFlight, index) => [
        name, (index + 1) * timeline.bin_s, timeline.arrived[index] ?? null, timeline.completed[index] ?? null, timeline.failed[index] ?? null, inFlight, timeline.slowest_s[index] ?? null,
      ]),
    ),
  };
}
