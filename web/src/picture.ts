// What a picture is: a chart, painted planes, or a drawing of its own. view.ts puts it on the page.
import { el, name } from "./dom.ts";
import type { Option } from "./echarts.ts";
import type { Scene } from "./flame/scene.ts";
import type { Look, SeriesLook } from "./look.ts";
import type { PlanesView } from "./pictures/planes_view.ts";

export type Cell = string | number | null;

export interface DataTable {
  columns: { title: string; numeric: boolean }[]; // base unit in the title: "latency, s"
  rows: Cell[][];
}

// A choice that the reader makes: which subject, linear or logarithmic, …
export interface Control {
  label: string;
  choices: { value: string; label: string }[];
  value: string;
  change(value: string): void; // the picture is drawn again afterwards
}

export interface LegendItem {
  name: string; // of ECharts' series
  look: SeriesLook;
}

interface Common {
  id: string; // unique in its part: names files and anchors
  title: string;
  short?: string; // in the navigation
  reads: string; // one or two sentences: what it shows and how to read it
  note?(): string; // what was left out: "3,000 of 200,000 points are drawn"; "" for nothing
  controls?: Control[];
  compact?: boolean; // stands beside the answer: its buttons are folded away with the data
  data(): DataTable;
}

export interface ChartPicture extends Common {
  kind: "chart";
  height(width: number): number;
  option(look: Look, width: number): Option; // without legend, title, dataZoom, aria, textStyle: those are set here
  legend?(look: Look): LegendItem[]; // series that can be switched off
  zoom?: "x" | "y" | "xy" | "none"; // "x" unless said
  // Series anew for what is in view, from … to on the axis: zooming in shows more of what is stored.
  detail?(from: number, to: number, look: Look, width: number): Option[];
  names?: string[]; // of series that are subjects, by their indices: they are marked in all charts of the part at once
  press?(series: string, index: number): void; // a mark is pressed
  lanes?(): (number | null)[]; // subjects of its lanes (pictures/lanes.ts)
}

// What ECharts is not made for: planes of pixels. `address`: where its choices are kept.
export interface PlanesPicture extends Common {
  kind: "planes";
  open(address: string): PlanesView;
}

// What has elements, keys and tools of its own.
export interface DrawnPicture extends Common {
  kind: "drawn";
  tools: HTMLElement; // above the drawing
  foot: HTMLElement; // beneath it
  prepare?(): void; // tools and foot as they are with the drawing
  height(width: number): number;
  draw(box: HTMLElement, look: Look, width: number): void;
  scene(look: Look, width: number): Scene; // the same, for files
  zoom?(factor: number): void; // 0 shows all
  watch?(figure: HTMLElement, redraw: () => void): void; // `redraw`: its controls or what it shows have changed
}

export type Picture = ChartPicture | PlanesPicture | DrawnPicture;

// A tooltip's content, as elements: ECharts takes them as they are.
export function tooltip(title: string, rows: [string, string][]): HTMLElement {
  const table = el("table", {});
  for (const [key, value] of rows) table.append(el("tr", {}, el("th", { scope: "row" }, name(key)), el("td", {}, name(value))));
  return el("div", { class: "tip" }, el("strong", {}, name(title)), table);
}

// Axes, grid lines and text as all charts have them; spread your own over it.
export function axis(look: Look, title: string, more: Option = {}): Option {
  return {
    name: title,
    nameLocation: "middle",
    nameGap: 30,
    nameTextStyle: { color: look.muted, fontSize: 12 },
    axisLine: { lineStyle: { color: look.line } },
    axisTick: { lineStyle: { color: look.line } },
    axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true },
    splitLine: { lineStyle: { color: look.line, opacity: 0.5 } },
    ...more,
  };
}
