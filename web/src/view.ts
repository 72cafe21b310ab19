// A picture on the page: a figure with a title, how to read it, controls, toggles of its series, zoom, its data as a table,
// and buttons that save it. What readers choose is kept in the address.
import { csv } from "./csv.ts";
import { announce, copy, download, el, freshId, name, onPlainKeys, shortened } from "./dom.ts";
import type { Child } from "./dom.ts";
import { init } from "./echarts.ts";
import type { Chart, Option } from "./echarts.ts";
import { hover, onHover, touch } from "./hover.ts";
import { currentLook, widthOnPaper } from "./look.ts";
import type { Look } from "./look.ts";
import { cutOption, cutSeries } from "./pictures/cut.ts";
import { laneAt, laneBox } from "./pictures/lanes.ts";
import { endsAround, isWhole, whole, zoomedBy, zoomedTicks } from "./pictures/zoom.ts";
import type { Zoom } from "./pictures/zoom.ts";
import type { ChartPicture, Control, DataTable, DrawnPicture, Picture } from "./picture.ts";
import { PlanesView } from "./pictures/planes_view.ts";
import { saveChart, savePlanes, saveScene } from "./saving.ts";
import type { Format } from "./saving.ts";
import { scrolling } from "./scrolling.ts";
import { swatch } from "./signs.ts";
import { choose, chosenFor, chooseSoon, onAddress } from "./state.ts";

const shownRows = 500;
const heightOnPaper = 250;

export class View {
  readonly figure: HTMLElement;
  readonly place = el("div", { class: "drawing" });
  private readonly noteLine = el("p", { class: "note" });
  private readonly legendBox = el("div", { class: "legend", role: "group", "aria-label": "Series" });
  private readonly laneMark = el("div", { class: "lane-mark", hidden: true });
  private readonly dataBox: HTMLDetailsElement;
  private chart: Chart | null = null;
  private stale = true;
  private readonly hidden = new Set<string>();
  private zooms: Zoom[] = [];
  private readonly selects: [HTMLSelectElement, Control][] = [];
  private readonly usual: string[];
  private readonly own: DrawnPicture | PlanesView | null; // what draws itself, and keeps its choices in an address of its own

  constructor(
    private readonly picture: Picture,
    private readonly file: string, // also where it stands, and in the address
    private readonly part: string,
  ) {
    const title = freshId("picture");
    this.own = picture.kind === "drawn" ? picture : picture.kind === "planes" ? picture.open(file) : null;
    this.usual = (picture.controls ?? []).map((control) => control.value);
    this.dataBox = el("details", { class: "data", ontoggle: () => this.fillData() }, el("summary", {}, picture.compact === true ? "Data and files" : "Data"));
    this.figure = el(
      "figure",
      { class: picture.compact === true ? "picture compact" : "picture", id: file, "data-short": picture.short ?? picture.title, "aria-labelledby": title },
      el("figcaption", {}, el("h4", { id: title }, name(picture.title)), el("p", { class: "reads" }, name(picture.reads))),
      el("div", { class: "bar" }, this.controls(), picture.compact === true ? null : this.buttons()),
      this.legendBox,
      this.own?.tools ?? null,
      el("div", { class: "stage" }, this.laneMark, this.place),
      this.own?.foot ?? null,
      this.noteLine,
      this.dataBox,
    );
    this.read();
    onAddress(() => {
      this.read();
      this.refresh();
    });
    if (picture.kind === "chart") this.addKeys(picture);
    if (picture.kind === "chart") this.addMarks(picture);
    // ECharts would keep the page from scrolling by a plain wheel too, which zooms nothing.
    this.place.addEventListener("wheel", (event) => event.ctrlKey || event.stopPropagation(), { capture: true, passive: true });
    this.own?.watch?.(this.figure, () => (picture.kind === "planes" ? this.redraw() : this.refresh()));
  }

  // --- what readers choose ---

  private read(): void {
    if (this.own !== null) return;
    const values = chosenFor(`${this.file}.c`)?.split(",") ?? this.usual;
    (this.picture.controls ?? []).forEach((control, index) => {
      const value = values[index] ?? "";
      if (value === control.value || !control.choices.some((choice) => choice.value === value)) return;
      control.value = value;
      control.change(value);
    });
    for (const [select, control] of this.selects) select.value = control.value;
    this.hidden.clear();
    const items = this.picture.kind === "chart" ? (this.picture.legend?.(currentLook()) ?? []) : [];
    for (const index of (chosenFor(`${this.file}.h`) ?? "").split(".").map(Number)) {
      const item = items[index];
      if (item !== undefined && chosenFor(`${this.file}.h`) !== null) this.hidden.add(item.name);
    }
    const numbers = (chosenFor(`${this.file}.z`) ?? "").split(",").map(Number);
    const inside = numbers.every((number) => number >= 0 && number <= 100);
    this.zooms = this.zoomAxes().map((_, index) => {
      const [start, end] = [numbers[2 * index], numbers[2 * index + 1]];
      return inside && start !== undefined && end !== undefined && start < end ? { start, end } : whole;
    });
  }

  private keepChoices(): void {
    if (this.own !== null) return;
    const values = (this.picture.controls ?? []).map((control) => control.value);
    choose(`${this.file}.c`, values.every((value, index) => value === this.usual[index]) ? null : values.join(","));
  }

  private controls(): HTMLElement {
    const row = el("div", { class: "controls" });
    for (const control of this.picture.controls ?? []) {
      if (control.choices.length < 2) continue;
      const select = el("select", {
        onchange: () => {
          control.value = select.value;
          control.change(select.value);
          this.showAll();
          this.keepChoices();
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
      this.zoomAxes().length === 0 && this.own?.zoom === undefined
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

  // --- drawing ---

  // Room for what is drawn later, so that nothing moves away under a pointer when it is.
  reserve(look: Look, width: number): void {
    if (!this.stale) return;
    this.surround(look, width);
    this.own?.prepare?.();
  }

  width(): number {
    return widthOnPaper() ?? (this.place.clientWidth || 720);
  }

  private heightOf(width: number): number {
    return this.picture.kind === "chart" ? this.picture.height(width) : (this.own?.height(width) ?? 0);
  }

  // On paper two charts share a page.
  private height(width: number): number {
    const height = this.heightOf(width);
    const isFree = this.picture.kind === "chart" && this.picture.lanes === undefined && height < 460;
    return widthOnPaper() === null || !isFree ? height : Math.min(height, heightOnPaper);
  }

  // All that stands around a drawing.
  private surround(look: Look, width: number): number {
    const height = this.height(width);
    this.place.style.height = `${height}px`;
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
    else this.own?.draw(this.place, look, width);
    this.tellNote(); // what was left out is known by now
  }

  private drawChart(picture: ChartPicture, look: Look, width: number, height: number): void {
    const chart = (this.chart ??= init(this.place, null, { renderer: "svg", width, height }));
    chart.resize({ width, height });
    const option = picture.option(look, width);
    this.drawn = option;
    chart.setOption(this.wholeOption(picture, option, look), { notMerge: true });
    chart.off("datazoom");
    chart.on("datazoom", () => this.zoomed(picture, option, look, width));
    this.listen(picture);
    this.showDetail(picture, option, look, width);
    // The drawing is one picture to readers of the screen, and its data are the table below. ECharts' own description of
    // it (its option aria) would replace this at every change.
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", `${picture.title}. ${picture.reads} The data are in the table below.`);
  }

  private zoomed(picture: ChartPicture, option: Option, look: Look, width: number): void {
    const zooms = (this.chart?.getOption() as { dataZoom?: Zoom[] } | undefined)?.dataZoom ?? [];
    this.zooms = zooms.map(({ start, end }) => ({ start, end }));
    const numbers = this.zooms.flatMap(({ start, end }) => [start, end].map((each) => String(Number(each.toPrecision(5)))));
    chooseSoon(`${this.file}.z`, this.zooms.every(isWhole) ? null : numbers.join(","));
    this.showDetail(picture, option, look, width);
  }

  // What only what is in view needs: lines cut nearer to it, more of the points that are stored, and ticks.
  private showDetail(picture: ChartPicture, option: Option, look: Look, width: number): void {
    const isZoomed = !this.zooms.every(isWhole);
    if (!isZoomed && !this.isDetailed) return;
    this.isDetailed = isZoomed;
    const more: Option = {};
    this.zoomAxes().forEach((axisName, index) => {
      const zoom = this.zooms[index] ?? whole;
      Object.assign(more, zoomedTicks(option, zoom, axisName));
      if (axisName !== "x") return;
      const ends = endsAround(option, zoom);
      const detail = ends === null ? undefined : picture.detail?.(ends.low, ends.high, look, width);
      more["series"] = cutSeries(option, zoom).map((each, at) => ({ ...each, ...detail?.[at] }));
    });
    this.chart?.setOption(more);
    this.tellNote();
  }

  private isDetailed = false;
  private drawn: Option = {}; // without what a zoom changes

  private wholeOption(picture: ChartPicture, option: Option, look: Look): Option {
    const names = (picture.legend?.(look) ?? []).map((item) => item.name);
    const cut = cutOption(option);
    return {
      animation: false,
      textStyle: { color: look.text, fontFamily: look.font },
      backgroundColor: "transparent",
      ...cut,
      series: (cut["series"] as Option[]).map((series) => this.linked(picture, series)),
      tooltip: {
        backgroundColor: look.panel,
        borderColor: look.line,
        textStyle: { color: look.text, fontSize: 12 },
        confine: true,
        transitionDuration: 0,
        ...(option["tooltip"] as Option | undefined),
      },
      title: { show: false, text: picture.title },
      // Hides series; the page has toggles of its own to show.
      legend: { show: false, data: names, selected: Object.fromEntries(names.map((each) => [each, !this.hidden.has(each)])) },
      dataZoom: this.zoomAxes().map((axisName, index) => ({
        type: "inside",
        ...(axisName === "x" ? { xAxisIndex: 0 } : { yAxisIndex: 0 }),
        ...this.zooms[index],
        filterMode: "none",
        zoomOnMouseWheel: "ctrl",
        moveOnMouseMove: true,
        moveOnMouseWheel: false,
        preventDefaultMouseMove: false,
      })),
    };
  }

  // --- subjects that are marked in all charts ---

  private linked(picture: ChartPicture, series: Option): Option {
    if (series["silent"] === true || !(picture.names ?? []).includes(series["name"] as string)) return series;
    return { ...series, emphasis: { focus: "series" } };
  }

  private addMarks(picture: ChartPicture): void {
    const subjectAt = (event: MouseEvent): number | null => {
      const lanes = picture.lanes?.() ?? [];
      const at = laneAt(event.offsetY, lanes.length, picture.height(this.width()));
      return at === null ? null : (lanes[at] ?? null);
    };
    if (picture.lanes !== undefined) this.place.addEventListener("pointermove", (event) => hover(this.part, subjectAt(event)));
    this.place.addEventListener("pointerleave", () => hover(this.part, null));
    let shown: string | null = null;
    onHover(this.part, (subject) => {
      const lane = subject === null ? -1 : (picture.lanes?.() ?? []).indexOf(subject);
      this.laneMark.hidden = lane < 0;
      if (lane >= 0) Object.assign(this.laneMark.style, laneBox(lane, (picture.lanes?.() ?? []).length, picture.height(this.width())));
      const series = subject === null ? null : (picture.names?.[subject] ?? null);
      if (this.chart === null || this.stale || shown === series) return;
      if (shown !== null) this.chart.dispatchAction({ type: "downplay", seriesName: shown });
      if (series !== null) this.chart.dispatchAction({ type: "highlight", seriesName: series });
      shown = series;
    });
  }

  private listen(picture: ChartPicture): void {
    this.chart?.off("click");
    this.chart?.on("click", (hit: unknown) => picture.press?.((hit as { seriesName: string; dataIndex: number }).seriesName, (hit as { dataIndex: number }).dataIndex));
    if (picture.names === undefined || this.chart === null) return;
    this.chart.off("mouseover");
    this.chart.on("mouseover", (hit: unknown) => {
      const subject = picture.names?.indexOf((hit as { seriesName?: string }).seriesName ?? "") ?? -1;
      if (subject >= 0) hover(this.part, subject);
    });
    this.chart.off("mouseout");
    if (picture.lanes === undefined) this.chart.on("mouseout", () => hover(this.part, null));
  }

  // --- zoom ---

  private zoomAxes(): ("x" | "y")[] {
    if (this.picture.kind !== "chart") return [];
    const zoom = this.picture.zoom ?? "x";
    return zoom === "none" ? [] : zoom === "xy" ? ["x", "y"] : [zoom];
  }

  private showAll(): void {
    this.zooms = this.zooms.map(() => whole);
    choose(`${this.file}.z`, null);
  }

  // factor 0 shows all.
  private zoom(factor: number, shift = 0): void {
    this.draw();
    this.own?.zoom?.(factor);
    this.zoomAxes().forEach((axisName, index) => {
      const zoom = factor === 0 ? whole : zoomedBy(this.drawn, this.zooms[index] ?? whole, factor, shift, axisName);
      this.chart?.dispatchAction({ type: "dataZoom", dataZoomIndex: index, ...zoom });
    });
  }

  private addKeys(picture: ChartPicture): void {
    if ((picture.zoom ?? "x") === "none" || picture.compact === true) return;
    this.place.tabIndex = 0;
    this.place.setAttribute("aria-keyshortcuts", "+ - 0 ArrowLeft ArrowRight");
    onPlainKeys(this.place, ({ key }) => {
      const acts: Record<string, () => void> = {
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        "0": () => this.zoom(0),
        ArrowLeft: () => this.zoom(1, -0.5),
        ArrowRight: () => this.zoom(1, 0.5),
      };
      return acts[key];
    });
  }

  // --- series ---

  private drawLegend(picture: ChartPicture, look: Look): void {
    const items = picture.legend?.(look) ?? [];
    this.legendBox.hidden = items.length < 2;
    const focused = this.legendBox.contains(document.activeElement) ? document.activeElement?.getAttribute("data-series") : null;
    const buttons = items.map((item) => {
      const button = el(
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
      );
      const subject = picture.names?.indexOf(item.name) ?? -1;
      if (subject >= 0) touch(button, this.part, subject);
      return button;
    });
    this.legendBox.replaceChildren(...buttons);
    if (typeof focused === "string") buttons.find((button) => button.dataset["series"] === focused)?.focus();
  }

  private toggle(series: string): void {
    const hide = !this.hidden.has(series);
    if (hide) this.hidden.add(series);
    else this.hidden.delete(series);
    this.chart?.dispatchAction({ type: hide ? "legendUnSelect" : "legendSelect", name: series });
    const buttons = [...this.legendBox.querySelectorAll("button")];
    for (const button of buttons) button.setAttribute("aria-pressed", String(!this.hidden.has(button.dataset["series"] ?? "")));
    const off = buttons.flatMap((button, index) => (button.getAttribute("aria-pressed") === "false" ? [index] : []));
    choose(`${this.file}.h`, off.length === 0 ? null : off.join("."));
  }

  // --- data and files ---

  private fillData(): void {
    if (!this.dataBox.open || this.dataBox.childElementCount > 1) return;
    const table = this.picture.data();
    const more = table.rows.length - shownRows;
    this.dataBox.append(
      el(
        "div",
        { class: "buttons" },
        ...(this.picture.compact === true ? [this.buttons()] : []),
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
    const height = this.heightOf(width);
    if (this.own instanceof PlanesView) savePlanes(this.own, this.picture.title, look, width, height, format, done);
    else if (this.picture.kind === "chart") saveChart(this.picture, this.wholeOption(this.picture, this.picture.option(look, width), look), look, width, height, format, done);
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
