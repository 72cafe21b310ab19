// Lines cut where an axis ends. What lies beyond is clipped anyhow, but browsers and PDF writers lay out every dash of it
// first: 40 curves that left their axis by millions of pixels kept Chromium busy for 42 s.
import type { Option } from "../echarts.ts";
import { endsAround, whole } from "./zoom.ts";

export type Point = [number, number];

export interface Cut {
  low: number; // of the axis across
  high: number;
  log?: { x: boolean; y: boolean }; // lines are straight on paper
  step?: boolean; // horizontal up to the next point
}

// The points of a line whose first numbers rise, each at its own index: those beyond the axis without a line to it are
// null, those at the far end of such a line lie where it leaves.
export function cutLine(points: (Point | null)[], cut: Cut): (Point | null)[] {
  const side = (point: Point | null | undefined): number => (!point ? NaN : point[0] < cut.low ? -1 : point[0] > cut.high ? 1 : 0);
  return points.map((point, index) => {
    const own = side(point);
    if (point === null || own === 0) return point;
    const inner = points[index - own]; // a line to the axis comes from there
    if (!inner || side(inner) === own) return null;
    const x = own < 0 ? cut.low : cut.high;
    return [x, cut.step === true ? (own < 0 ? point : inner)[1] : heightAt(x, point, inner, cut.log)];
  });
}

function heightAt(x: number, a: Point, b: Point, log: Cut["log"]): number {
  const across = log?.x === true ? Math.log : Number;
  const share = (across(x) - across(a[0])) / (across(b[0]) - across(a[0]));
  return log?.y === true ? a[1] * (b[1] / a[1]) ** share : a[1] + share * (b[1] - a[1]);
}

interface Line {
  type?: unknown;
  data?: unknown;
  step?: unknown;
}

const isPoint = (point: unknown): boolean => Array.isArray(point) && point.length === 2 && typeof point[0] === "number" && (point[1] === null || typeof point[1] === "number");

// Where the second number is null, there is a gap.
function pointsOf(data: unknown): (Point | null)[] | null {
  if (!Array.isArray(data) || !data.every((point) => point === null || isPoint(point))) return null;
  return (data as ([number, number | null] | null)[]).map((point) => (point === null || point[1] === null ? null : [point[0], point[1]]));
}

// Lines up to where the axis ends; zoomed in, and a little beyond what is seen. The others are as they were.
export function cutSeries(option: Option, zoom = whole): Option[] {
  const isLog = (axis: unknown): boolean => (axis as { type?: unknown } | undefined)?.type === "log";
  const series = [option["series"] ?? []].flat() as (Line & Option)[];
  const ends = endsAround(option, zoom);
  if (ends === null) return series.map(() => ({}));
  const cut = { ...ends, log: { x: isLog(option["xAxis"]), y: isLog(option["yAxis"]) } };
  return series.map((each) => {
    const points = each.type === "line" ? pointsOf(each.data) : null;
    return points === null ? {} : { data: cutLine(points, { ...cut, step: each.step === "end" }) };
  });
}

export function cutOption(option: Option): Option {
  const series = [option["series"] ?? []].flat() as Option[];
  const cut = cutSeries(option);
  return { ...option, series: series.map((each, index) => ({ ...each, ...cut[index] })) };
}
