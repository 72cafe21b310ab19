// Shapes that ECharts has no series for, drawn where the axes say: intervals, bars of quantiles, signs.
import type { Dots, Option } from "../echarts.ts";

// Where values of the two axes lie, in pixels.
export type Place = (x: number, y: number) => { x: number; y: number };
export type Shape = Option;

// What the axes enclose, in pixels.
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Api {
  coord(point: number[]): number[];
}

// A group of shapes per item, or none. `at` is where the item stands for tooltips and zoom; `encode` in `more` says of
// other numbers than [x, y] which axis has to reach them.
export function marks<T>(name: string, items: T[], at: (item: T) => number[], draw: (item: T, place: Place, area: Area) => Shape[], tip: ((item: T) => HTMLElement) | null, more: Option = {}): Option {
  return {
    type: "custom",
    name,
    clip: true,
    silent: tip === null,
    data: items.map(at),
    renderItem: (parameters: { dataIndex: number; coordSys: Area }, api: Api): Option | undefined => {
      const place: Place = (x, y) => {
        const [left = 0, top = 0] = api.coord([x, y]);
        return { x: left, y: top };
      };
      const children = draw(items[parameters.dataIndex] as T, place, parameters.coordSys);
      return children.length > 0 ? { type: "group", children } : undefined; // an empty group would keep its shapes of before
    },
    ...(tip === null ? {} : { tooltip: { formatter: (hit: { dataIndex: number }) => tip(items[hit.dataIndex] as T) } }),
    ...more,
  };
}

export function line(x1: number, y1: number, x2: number, y2: number, style: Option): Shape {
  return { type: "line", shape: { x1, y1, x2, y2 }, style: { lineWidth: 1.5, ...style } };
}

export function box(x1: number, y1: number, x2: number, y2: number, style: Option): Shape {
  return { type: "rect", shape: { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) }, style };
}

export function dot(x: number, y: number, r: number, style: Option): Shape {
  return { type: "circle", shape: { cx: x, cy: y, r }, style };
}

export function diamond(x: number, y: number, r: number, style: Option): Shape {
  return { type: "polygon", shape: { points: [[x, y - r], [x + r, y], [x, y + r], [x - r, y]] }, style };
}

// One of the page's signs, which are 16 × 16, with its middle at x, y.
export function badge(pathData: string, x: number, y: number, size: number, style: Option): Shape {
  // Drawn anew, a path of the same data keeps its shape, but not its place.
  return { type: "path", x: x - size / 2, y: y - size / 2, shape: { pathData, x: 0, y: 0, width: size, height: size }, style };
}

// Places along an axis that is cut: what lies far beyond it is as good as beyond it.
export function nearby(place: Place, area: Area): Place {
  return (x, y) => {
    const at = place(x, y);
    return { x: Math.max(area.x - area.width / 2, Math.min(area.x + 1.5 * area.width, at.x)), y: at.y };
  };
}

// A shape of no colour that catches the pointer.
export function target(x1: number, y1: number, x2: number, y2: number): Shape {
  return box(x1, y1, x2, y2, { fill: "rgba(0,0,0,0)" });
}

// From low to high with caps.
export function whisker(along: "x" | "y", from: { x: number; y: number }, to: { x: number; y: number }, style: Option, cap = 4): Shape[] {
  const [dx, dy] = along === "x" ? [0, cap] : [cap, 0];
  return [
    line(from.x, from.y, to.x, to.y, style),
    line(from.x - dx, from.y - dy, from.x + dx, from.y + dy, style),
    line(to.x - dx, to.y - dy, to.x + dx, to.y + dy, style),
  ];
}

// Intervals as [at, low, high], as one series whose axis reaches their ends.
export function whiskers(name: string, color: string, along: "x" | "y", intervals: [number, number, number][], more: Option = {}): Option {
  const end = (place: Place, at: number, value: number): ReturnType<Place> => (along === "y" ? place(at, value) : place(value, at));
  return marks(
    name,
    intervals,
    (interval) => interval,
    ([at, low, high], place) => whisker(along, end(place, at, low), end(place, at, high), { stroke: color }, 3),
    null,
    { encode: along === "y" ? { x: 0, y: [1, 2] } : { y: 0, x: [1, 2] }, ...more },
  );
}

// Points that are silent or tell something, as one series.
export function points<T>(name: string, items: T[], at: (item: T) => [number, number], tip: ((item: T) => HTMLElement) | null, more: Option = {}): Option {
  return {
    type: "scatter",
    name,
    silent: tip === null,
    symbolSize: 5,
    data: items.map(at),
    ...(tip === null ? {} : { tooltip: { formatter: (hit: { dataIndex: number }) => tip(items[hit.dataIndex] as T) } }),
    ...more,
  };
}

const perShape = 24;
const rounded = ({ x, y }: ReturnType<Place>): ReturnType<Place> => ({ x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 });
export const pointed = { at: 0 }; // which symbol of its shape the pointer is at

export type CloudLook = Pick<Dots, "symbol" | "size"> & { style: Option };

// Round ones are the round ends of lines: four curves each would make a PDF three times as large.
export function filled(symbol: string, size: number, color: string, opacity: number): CloudLook {
  return symbol === "circle" ? { symbol: "point", size, style: { stroke: color, lineWidth: size, lineCap: "round", opacity } } : { symbol, size, style: { fill: color, opacity } };
}

// Points by the hundred: an element for each would keep browsers busy. Those of one shape are far from each other, so that
// points which overlap still look denser. `look` gives the same object for points that look the same.
export function cloud<T>(name: string, items: T[], at: (item: T) => [number, number], look: (item: T) => CloudLook, tip: (item: T) => HTMLElement, more: Option = {}): Option {
  const groups = new Map<CloudLook, T[]>();
  for (const item of items) {
    const own = look(item);
    const group = groups.get(own) ?? [];
    groups.set(own, group);
    group.push(item);
  }
  const shapes = [...groups].flatMap(([own, all]) => {
    const step = Math.ceil(all.length / perShape);
    return Array.from({ length: step }, (_, first) => ({ own, some: all.filter((_each, index) => index % step === first) }));
  });
  return marks(
    name,
    shapes,
    ({ some }) => at(some[0] as T),
    ({ own: { style, ...shape }, some }, place, area) => [{ type: "dots", shape: { ...shape, places: some.map((each) => rounded(nearby(place, area)(...at(each)))) } satisfies Dots, style }],
    ({ some }) => tip(some[pointed.at] as T),
    { emphasis: { disabled: true }, ...more },
  );
}
