// A picture: a chart, painted planes or a drawing of its own in a figure with a title, how to read it, controls, toggles of its series, zoom,
// its data as a table, and buttons that save it. Charts are drawn when they come into view, and again when the look changes.
import { csv } from "./csv.ts";
import { announce, copy, download, el, freshId, name, shortened } from "./dom.ts";
import type { Child } from "./dom.ts";
import { init } from "./echarts.ts";
import type { Chart, Option } from "./echarts.ts";
import type { Scene } from "./flame/scene.ts";
import { currentLook, setPrinting, widthOnPaper } from "./look.ts";
import type { Look, SeriesLook } from "./look.ts";
import { cutOption, cutSeries } from "./pictures/cut.ts";
import { saveChart, savePlanes, saveScene } from "./saving.ts";
import type { Format } from "./saving.ts";
import { scrolling } from "./scrolling.ts";
import { swatch } from "./signs.ts";

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
  change(value: string): void; // the picture is drawn anew afterwards
}

export interface LegendItem {
  name: string; // of ECharts' series
  look: SeriesLook;
}

interface Common {
  id: string; // unique in its part: names files and anchors
  title: string;
  reads: string; // one or two sentences: what it shows and how to read it
  note?(): string; // what was left out: "3,000 of 200,000 points are drawn"; "" for nothing
  controls?: Control[];
  data(): DataTable;
}

export interface ChartPicture extends Common {
  kind: "chart";
  height(width: number): number;
  option(look: Look, width: number): Option; // without legend, title, dataZoom, aria, textStyle: those are set here
  legend?(look: Look): LegendItem[]; // series that can be switched off
  zoom?: "x" | "y" | "xy" | "none"; // "x" unless said
}

// What ECharts is not made for: planes of pixels.
export interface PlanesPicture extends Common {
  kind: "planes";
  height(width: number): number;
  paint(canvas: HTMLCanvasElement, look: Look, width: number, height: number, scale: number): void;
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

const shownRows = 500;

class View {
  readonly figure: HTMLElement;
  private readonly box: HTMLElement;
  private readonly noteLine: HTMLElement;
  private readonly legendBox: HTMLElement;
  private readonly dataBox: HTMLDetailsElement;
  private chart: Chart | null = null;
  private stale = true;
  private readonly hidden = new Set<string>();
  private readonly selects: [HTMLSelectElement, Control][] = [];

  constructor(
    private readonly picture: Picture,
    private readonly file: string,
  ) {
    const title = freshId("picture");
    this.box = el("div", { class: "drawing" });
    this.noteLine = el("p", { class: "note" });
    this.legendBox = el("div", { class: "legend", role: "group", "aria-label": "Series" });
    this.dataBox = el("details", { class: "data", ontoggle: () => this.fillData() }, el("summary", {}, "Data"));
    this.figure = el(
      "figure",
      { class: "picture", id: file, "aria-labelledby": title },
      el("figcaption", {}, el("h4", { id: title }, name(picture.title)), el("p", { class: "reads" }, name(picture.reads))),
      el("div", { class: "bar" }, this.controls(), this.buttons()),
      this.legendBox,
      picture.kind === "drawn" ? picture.tools : null,
      this.box,
      picture.kind === "drawn" ? picture.foot : null,
      this.noteLine,
      this.dataBox,
    );
    if (picture.kind === "chart") this.addKeys(picture);
    // ECharts would keep the page from scrolling by a plain wheel too, which zooms nothing.
    this.box.addEventListener("wheel", (event) => event.ctrlKey || event.stopPropagation(), { capture: true, passive: true });
    if (picture.kind === "drawn") picture.watch?.(this.figure, () => this.refresh());
  }

  private controls(): HTMLElement {
    const row = el("div", { class: "controls" });
    for (const control of this.picture.controls ?? []) {
      const select = el("select", {
        onchange: () => {
          control.value = select.value;
          control.change(select.value);
          this.refresh();
        },
      });
      for (const choice of control.choices) select.append(el("option", { value: choice.value, selected: choice.value === control.value }, choice.label));
      this.selects.push([select, control]);
      row.append(el("label", {}, `${control.label} `, select));
    }
    return row;
  }

  private buttons(): HTMLElement {
    const button = (text: string, label: string, act: () => void): HTMLElement =>
      el("button", { type: "button", class: "small", "aria-label": `${label}: ${this.picture.title}`, title: label, onclick: act }, text);
    const zoom: Child[] =
      this.zoomAxes().length === 0
        ? []
        : [
            button("+", "Zoom in", () => this.zoom(0.5)),
            button("−", "Zoom out", () => this.zoom(2)),
            button("All", "Show all", () => this.zoom(0)),
          ];
    return el(
      "div",
      { class: "buttons" },
      ...zoom,
      button("SVG", "Save as SVG", () => this.save("svg")),
      button("PNG", "Save as PNG", () => this.save("png")),
    );
  }

  // Room for what is drawn later, so that nothing moves away under a pointer when it is.
  reserve(look: Look, width: number): void {
    if (!this.stale) return;
    this.surround(look, width);
    if (this.picture.kind === "drawn") this.picture.prepare?.();
  }

  width(): number {
    return widthOnPaper() ?? (this.box.clientWidth || 720);
  }

  // All that stands around a drawing.
  private surround(look: Look, width: number): number {
    const height = this.picture.height(width);
    this.box.style.height = `${height}px`;
    if (this.picture.kind === "chart") this.drawLegend(this.picture, look);
    this.tellNote();
    return height;
  }

  private tellNote(): void {
    const note = this.picture.note?.() ?? "";
    this.noteLine.textContent = note;
    this.noteLine.hidden = note === "";
  }

  // Draws what has come into view; what has not is drawn when it does.
  draw(): void {
    if (!this.stale) return;
    this.stale = false;
    const [look, width] = [currentLook(), this.width()];
    const height = this.surround(look, width);
    if (this.picture.kind === "chart") this.drawChart(this.picture, look, width, height);
    else if (this.picture.kind === "planes") this.drawPlanes(this.picture, look, width, height);
    else this.picture.draw(this.box, look, width);
    this.tellNote(); // what was left out is known by now
  }

  private drawChart(picture: ChartPicture, look: Look, width: number, height: number): void {
    const chart = (this.chart ??= init(this.box, null, { renderer: "svg", width, height }));
    chart.resize({ width, height });
    const option = picture.option(look, width);
    chart.setOption(this.wholeOption(picture, option, look), { notMerge: true });
    chart.off("datazoom");
    chart.on("datazoom", () => {
      const [zoom] = (chart.getOption() as { dataZoom?: { start: number; end: number }[] }).dataZoom ?? [];
      if (zoom !== undefined && this.zoomAxes()[0] === "x") chart.setOption({ series: cutSeries(option, zoom) });
    });
    // The drawing is one picture to readers of the screen, and its data are the table below. ECharts' own description of
    // it (its option aria) would replace this at every change.
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `${picture.title}. ${picture.reads} The data are in the table below.`);
  }

  private drawPlanes(picture: PlanesPicture, look: Look, width: number, height: number): void {
    const scale = Math.min(3, window.devicePixelRatio || 1);
    const canvas = el("canvas", { role: "img", "aria-label": `${picture.title}. ${picture.reads}` });
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    picture.paint(canvas, look, width, height, scale);
    this.box.replaceChildren(canvas);
  }

  private wholeOption(picture: ChartPicture, option: Option, look: Look): Option {
    const names = (picture.legend?.(look) ?? []).map((item) => item.name);
    return {
      animation: false,
      textStyle: { color: look.text, fontFamily: look.font },
      backgroundColor: "transparent",
      ...cutOption(option),
      tooltip: {
        backgroundColor: look.panel,
        borderColor: look.line,
        textStyle: { color: look.text, fontSize: 12 },
        confine: true,
        ...(option["tooltip"] as Option | undefined),
      },
      title: { show: false, text: picture.title },
      // Hides series; the page has toggles of its own to show.
      legend: { show: false, data: names, selected: Object.fromEntries(names.map((each) => [each, !this.hidden.has(each)])) },
      dataZoom: this.zoomAxes().map((axisName) => ({
        type: "inside",
        ...(axisName === "x" ? { xAxisIndex: 0 } : { yAxisIndex: 0 }),
        filterMode: "none",
        zoomOnMouseWheel: "ctrl",
        moveOnMouseMove: true,
        moveOnMouseWheel: false,
        preventDefaultMouseMove: false,
      })),
    };
  }

  private zoomAxes(): ("x" | "y")[] {
    if (this.picture.kind !== "chart") return [];
    const zoom = this.picture.zoom ?? "x";
    return zoom === "none" ? [] : zoom === "xy" ? ["x", "y"] : [zoom];
  }

  // factor 0 shows all.
  private zoom(factor: number, shift = 0): void {
    this.draw();
    const option = this.chart?.getOption() as { dataZoom?: { start: number; end: number }[] } | undefined;
    (option?.dataZoom ?? []).forEach((zoom, index) => {
      const half = factor === 0 ? 50 : Math.min(50, ((zoom.end - zoom.start) / 2) * factor);
      const middle = factor === 0 ? 50 : (zoom.end + zoom.start) / 2 + shift * half;
      const start = Math.max(0, Math.min(100 - 2 * half, middle - half));
      this.chart?.dispatchAction({ type: "dataZoom", dataZoomIndex: index, start, end: start + 2 * half });
    });
  }

  private addKeys(picture: ChartPicture): void {
    if ((picture.zoom ?? "x") === "none") return;
    this.box.tabIndex = 0;
    this.box.setAttribute("aria-keyshortcuts", "+ - 0 ArrowLeft ArrowRight");
    this.box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const acts: Record<string, () => void> = {
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        "0": () => this.zoom(0),
        ArrowLeft: () => this.zoom(1, -0.5),
        ArrowRight: () => this.zoom(1, 0.5),
      };
      const act = acts[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    });
  }

  private drawLegend(picture: ChartPicture, look: Look): void {
    const items = picture.legend?.(look) ?? [];
    this.legendBox.hidden = items.length < 2;
    const focused = this.legendBox.contains(document.activeElement) ? document.activeElement?.getAttribute("data-series") : null;
    const buttons = items.map((item) =>
      el(
        "button",
        {
          type: "button",
          class: "series",
          "data-series": item.name,
          "aria-pressed": String(!this.hidden.has(item.name)),
          onclick: () => this.toggle(item.name),
        },
        swatch(item.look),
        name(shortened(item.name, 60), item.name),
      ),
    );
    this.legendBox.replaceChildren(...buttons);
    if (typeof focused === "string") buttons.find((button) => button.dataset["series"] === focused)?.focus();
  }

  private toggle(series: string): void {
    const hide = !this.hidden.has(series);
    if (hide) this.hidden.add(series);
    else this.hidden.delete(series);
    this.chart?.dispatchAction({ type: hide ? "legendUnSelect" : "legendSelect", name: series });
    for (const button of this.legendBox.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(!this.hidden.has(button.dataset["series"] ?? "")));
    }
  }

  private fillData(): void {
    if (!this.dataBox.open || this.dataBox.childElementCount > 1) return;
    const table = this.picture.data();
    const more = table.rows.length - shownRows;
    this.dataBox.append(
      el(
        "div",
        { class: "buttons" },
        el("button", { type: "button", class: "small", onclick: () => download(`${this.file}.csv`, new Blob([csv(table)], { type: "text/csv" })) }, "Save as CSV"),
        el("button", { type: "button", class: "small", onclick: () => void copy(csv(table), "The data") }, "Copy as CSV"),
      ),
      scrolling(dataTable(table, shownRows), `Data of ${this.picture.title}`),
    );
    if (more > 0) this.dataBox.append(el("p", { class: "note" }, `${more} more rows are in the CSV.`));
  }

  private save(format: Format): void {
    const [width, look] = [960, currentLook()];
    const done = (content: Blob): void => {
      download(`${this.file}.${format}`, content);
      announce(`Saved ${this.file}.${format}`);
    };
    if (this.picture.kind === "drawn") {
      saveScene(this.picture.scene(look, width), this.picture.title, look, format, done);
      return;
    }
    const height = this.picture.height(width);
    if (this.picture.kind === "planes") savePlanes(this.picture, look, width, height, format, done);
    else saveChart(this.picture, this.wholeOption(this.picture, this.picture.option(look, width), look), look, width, height, format, done);
  }

  // The look, the width or a control has changed. Drawn at once where it was drawn already.
  refresh(): void {
    for (const [select, of] of this.selects) select.value = of.value; // one choice can change another
    const drawn = !this.stale;
    this.stale = true;
    while (this.dataBox.childElementCount > 1) this.dataBox.lastElementChild?.remove();
    this.dataBox.open = false;
    if (drawn) this.draw();
  }

  redraw(): void {
    if (this.stale) return;
    this.stale = true;
    this.draw();
  }

  get place(): HTMLElement {
    return this.box;
  }
}

export function dataTable(table: DataTable, limit: number): HTMLTableElement {
  const head = el("tr", {});
  for (const column of table.columns) head.append(el("th", { scope: "col", class: column.numeric ? "number" : undefined }, name(column.title)));
  const body = el("tbody", {});
  for (const row of table.rows.slice(0, limit)) {
    const line = el("tr", {});
    row.forEach((value, index) => {
      const numeric = table.columns[index]?.numeric ?? false;
      line.append(el("td", { class: numeric ? "number" : undefined }, value === null ? "–" : typeof value === "number" ? String(value) : name(value)));
    });
    body.append(line);
  }
  return el("table", { class: "grid" }, el("thead", {}, head), body);
}

const views: View[] = [];
const viewOf = new WeakMap<Element, View>();
let width = 0;

// One at a time with a frame between: the page is there before its pictures, and a click waits for one of them at most.
const waiting: View[] = [];
function drawLater(view: View): void {
  waiting.push(view);
  if (waiting.length === 1) afterFrame(drawNext);
}

function afterFrame(act: () => void): void {
  window.requestAnimationFrame(() => window.setTimeout(act));
}

function drawNext(): void {
  const view = waiting.shift();
  if (waiting.length > 0) afterFrame(drawNext);
  view?.draw();
}

// Made with the first picture, not with the module, whose other parts need no page.
let observer: IntersectionObserver | null = null;
function drawWhenNear(place: HTMLElement): void {
  observer ??= new IntersectionObserver(
    (entries) => {
      reserveAll();
      for (const entry of entries) {
        const view = entry.isIntersecting ? viewOf.get(entry.target) : undefined;
        if (view !== undefined) drawLater(view);
      }
    },
    { rootMargin: "600px 0px" },
  );
  observer.observe(place);
}

// When the page has its first layout: only then is it known how wide they are. And when that changes.
let reserved = 0;
function reserveAll(): void {
  if (reserved === views.length) return;
  const [look, fresh] = [currentLook(), views.slice(reserved)];
  const widths = fresh.map((view) => view.width()); // read before anything changes: one layout, not one per picture
  fresh.forEach((view, index) => view.reserve(look, widths[index] as number));
  reserved = views.length;
}

export function show(picture: Picture, prefix: string): HTMLElement {
  const view = new View(picture, `${prefix}-${picture.id}`);
  views.push(view);
  viewOf.set(view.place, view);
  drawWhenNear(view.place);
  return view.figure;
}

export function redrawAll(): void {
  reserved = 0;
  reserveAll();
  for (const view of views) view.redraw();
}

// Paper is light, has everything on it, and no buttons.
export function watchPage(): void {
  width = window.innerWidth;
  const sizes = new ResizeObserver(() => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    redrawAll();
  });
  sizes.observe(document.documentElement);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  const opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    setPrinting(true);
    document.documentElement.dataset["printing"] = "";
    for (const details of document.querySelectorAll("details")) {
      if (!details.open && !details.classList.contains("data")) {
        details.open = true;
        opened.push(details);
      }
    }
    for (const view of views) view.draw();
    redrawAll();
  });
  window.addEventListener("afterprint", () => {
    setPrinting(false);
    delete document.documentElement.dataset["printing"];
    for (const details of opened.splice(0)) details.open = false;
    redrawAll();
  });
}
