// A graph that people look into: zoomed and moved, with what is reported about a node, the keyboard, and the address that keeps
// what it shows.
import { el, freshId, name, onPlainKeys, svg, visible } from "../dom.ts";
import type { Box, Scene } from "../flame/scene.ts";
import { hatchPattern, pathsOf, ring, shapesOf } from "../flame/scene.ts";
import type { Look } from "../look.ts";
import { chooseSoon, chosenFor, onAddress } from "../state.ts";
import { nodeHeight, nodeWidth, Places } from "./graph.ts";
import type { Graph, View } from "./graph.ts";
import { graphScene, isReadable, legendBoxes, legendHeight, stripBoxes, stripWidth, toScreen, visibleNodes } from "./graph_scene.ts";
import type { Frame } from "./graph_scene.ts";

const keys = "+ - 0 ArrowLeft ArrowRight ArrowUp ArrowDown Enter Home End";
const readableZoom = 0.8;

export class GraphView {
  readonly tools = el("p", { class: "note" });
  readonly foot = el("div", { class: "more-of-it" });
  private readonly hatch = freshId("hatch");
  private readonly places = new Map<number, Places>(); // by the graph
  private readonly marks = svg("g", { class: "graph-marks" });
  private readonly drawing = svg("svg", { class: "graph", "aria-hidden": "true" });
  private chosen = 0;
  private view: View | null = null; // null: as at first
  private kept: number | null = null; // the node that the arrows have come to
  private under: number | null = null; // the pointer
  private waiting = 0;
  private drawnIn: { look: Look; width: number } | null = null;
  private box: HTMLElement | null = null;
  private redraw = (): void => undefined;

  constructor(
    private readonly title: string,
    private readonly graphs: Graph[],
    private readonly address: string,
    private readonly showRow: (graph: number, node: number) => void,
    private readonly changed: (graph: number) => void, // by the address
  ) {
    this.read();
    onAddress(() => this.read());
    this.listen();
  }

  // --- what readers choose ---

  private read(): void {
    const [graph = "", view = "", node = ""] = (chosenFor(this.address) ?? "").split("/");
    this.chosen = this.graphs[Number(graph)] === undefined ? 0 : Number(graph);
    const [zoom = NaN, x = NaN, y = NaN] = view.split(",").map(Number);
    this.view = zoom > 0 && Number.isFinite(zoom + x + y) ? { zoom, x, y } : null;
    this.kept = /^\d+$/.test(node) && Number(node) < this.graph.nodes.length ? Number(node) : null;
    this.changed(this.chosen);
  }

  private keep(): void {
    const { view } = this;
    const text = `${this.chosen || ""}/${view === null ? "" : [view.zoom, view.x, view.y].map((each) => Number(each.toPrecision(4))).join(",")}/${this.kept ?? ""}`;
    chooseSoon(this.address, text === "//" ? null : text);
  }

  choose(graph: number): void {
    [this.chosen, this.view, this.kept] = [graph, null, null];
    this.keep();
  }

  private get graph(): Graph {
    return this.graphs[this.chosen] as Graph;
  }

  private get of(): Places {
    const made = this.places.get(this.chosen) ?? new Places(this.graph);
    this.places.set(this.chosen, made);
    return made;
  }

  // At a node, whichever graph it is of.
  reveal(graph: number, node: number, figure: HTMLElement): void {
    if (graph !== this.chosen) this.choose(graph);
    this.changed(graph);
    this.kept = node;
    const { x, y } = this.shown();
    this.view = { zoom: Math.max(readableZoom, this.shown().zoom), x, y };
    this.center(node);
    this.redraw();
    figure.scrollIntoView();
    this.box?.focus({ preventScroll: true });
  }

  private center(node: number): void {
    this.move({ ...this.shown(), x: this.of.x(node), y: this.of.y(node) });
  }

  // --- the part of it that is shown ---

  height(width: number): number {
    const wanted = width < 500 ? 420 : 560;
    return Math.min(wanted, Math.max(90, this.of.height * Math.min(1, (width - stripWidth - 8) / this.of.width) + 8)) + legendHeight;
  }

  private frame(top = 0, width = this.drawnIn?.width ?? 720): Frame {
    const left = stripWidth + 8;
    return { left, top, width: width - left, height: this.height(width) - legendHeight };
  }

  private shown(frame = this.frame()): View {
    return this.view === null ? this.of.atFirst(frame.width, frame.height) : this.inside(this.view, frame);
  }

  private inside(view: View, { width, height } = this.frame()): View {
    return this.of.inside(view, width, height);
  }

  private move(view: View): void {
    this.view = this.inside(view);
    this.keep();
    this.refresh();
  }

  // factor 0 shows all. What lies at `x`, `y` stays there.
  zoom(factor: number, x?: number, y?: number): void {
    const before = this.shown();
    if (factor === 0) return this.move({ zoom: 0, x: 0, y: 0 });
    const at = this.kept === null || x !== undefined ? { x: x ?? before.x, y: y ?? before.y } : { x: this.of.x(this.kept), y: this.of.y(this.kept) };
    const { zoom } = this.inside({ ...before, zoom: before.zoom / factor });
    const share = before.zoom / zoom;
    this.move({ zoom, x: at.x - (at.x - before.x) * share, y: at.y - (at.y - before.y) * share });
  }

  // To a neighbour, followed by what is in view; `far`: what is in view, by half of it.
  private step(right: number, down: number, far: boolean): void {
    const [view, frame] = [this.shown(), this.frame()];
    if (far) return this.move({ ...view, x: view.x + (right * frame.width) / view.zoom / 2, y: view.y + (down * frame.height) / view.zoom / 2 });
    this.put(this.kept === null ? this.graph.first : this.of.next(this.kept, right, down));
  }

  private put(node: number): void {
    [this.kept, this.under] = [node, null];
    const [view, frame] = [this.shown(), this.frame()];
    const [x, y] = toScreen(view, frame)(this.of.x(node), this.of.y(node));
    const isOutside = Math.abs(x - frame.left - frame.width / 2) > (frame.width - nodeWidth * view.zoom) / 2 || Math.abs(y - frame.top - frame.height / 2) > (frame.height - nodeHeight * view.zoom) / 2;
    if (isOutside) this.center(node);
    this.keep();
    this.describe(true);
  }

  // --- pointers and keys ---

  private listen(): void {
    let start: { x: number; y: number; view: View; moved: boolean; inStrip: boolean } | null = null;
    const point = (event: MouseEvent): [number, number] => {
      const [view, frame, box] = [this.shown(), this.frame(), this.drawing.getBoundingClientRect()];
      return [view.x + (event.clientX - box.left - frame.left - frame.width / 2) / view.zoom, view.y + (event.clientY - box.top - frame.top - frame.height / 2) / view.zoom];
    };
    const alongStrip = (event: MouseEvent): void => {
      const { top } = this.drawing.getBoundingClientRect();
      this.move({ ...this.shown(), y: ((event.clientY - top) / this.frame().height) * this.of.height });
    };
    const on = (type: string, act: (event: PointerEvent) => void): void => this.drawing.addEventListener(type, act as EventListener);
    on("pointerdown", (event) => {
      if (event.button !== 0) return;
      const inStrip = event.clientX - this.drawing.getBoundingClientRect().left <= stripWidth;
      start = { x: event.clientX, y: event.clientY, view: this.shown(), moved: false, inStrip };
      this.drawing.setPointerCapture(event.pointerId);
      if (inStrip) alongStrip(event);
    });
    on("pointermove", (event) => {
      if (start !== null && Math.hypot(event.clientX - start.x, event.clientY - start.y) > 3) start.moved = true;
      if (start?.inStrip === true) return alongStrip(event);
      if (start?.moved === true) {
        const { view } = start;
        return this.move({ ...view, x: view.x - (event.clientX - start.x) / view.zoom, y: view.y - (event.clientY - start.y) / view.zoom });
      }
      const under = this.of.at(...point(event));
      if (under === this.under) return;
      this.under = under;
      this.drawing.classList.toggle("on-node", under !== null);
      this.describe(false);
    });
    on("pointerup", (event) => {
      const node = start === null || start.moved || start.inStrip ? null : this.of.at(...point(event));
      start = null;
      if (node === null) return;
      this.put(node);
      this.showRow(this.chosen, node);
    });
    on("pointercancel", () => (start = null));
    on("pointerleave", () => {
      this.under = null;
      this.describe(false);
    });
    this.drawing.addEventListener(
      "wheel",
      (event) => {
        const { ctrlKey, deltaY } = event as WheelEvent;
        if (!ctrlKey) return;
        event.preventDefault();
        this.zoom(2 ** Math.max(-1, Math.min(1, deltaY / 100)), ...point(event as WheelEvent));
      },
      { passive: false },
    );
  }

  watch(figure: HTMLElement, redraw: () => void): void {
    this.redraw = redraw;
    this.box = figure.querySelector(".drawing");
    onPlainKeys(this.box, ({ key, shiftKey }) => {
      const order = this.of.layers.flat();
      const acts: Record<string, () => void> = {
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        "0": () => this.zoom(0),
        Enter: () => this.kept !== null && this.showRow(this.chosen, this.kept),
        Home: () => this.put(order[0] ?? 0),
        End: () => this.put(order[order.length - 1] ?? 0),
        ArrowLeft: () => this.step(-1, 0, shiftKey),
        ArrowRight: () => this.step(1, 0, shiftKey),
        ArrowUp: () => this.step(0, -1, shiftKey),
        ArrowDown: () => this.step(0, 1, shiftKey),
      };
      return acts[key];
    });
  }

  // --- drawing ---

  prepare(): void {
    this.describe(false);
  }

  draw(box: HTMLElement, look: Look, width: number): void {
    this.drawnIn = { look, width };
    for (const [key, value] of Object.entries({ role: "application", tabindex: "0", "aria-label": `${this.title}: ${visible(this.graph.label)}`, "aria-roledescription": "graph", "aria-keyshortcuts": keys })) box.setAttribute(key, value);
    const height = this.height(width);
    box.style.height = `${height}px`;
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) this.drawing.setAttribute(key, String(value));
    if (!box.contains(this.drawing)) box.replaceChildren(this.drawing);
    this.paint();
  }

  private refresh(): void {
    if (this.waiting !== 0 || this.drawnIn === null) return;
    this.waiting = window.requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  private paint(): void {
    if (this.drawnIn === null) return;
    const { look, width } = this.drawnIn;
    const frame = this.frame();
    const scene = this.whole(look, frame);
    const clip = svg("clipPath", { id: `${this.hatch}-clip` }, svg("rect", { x: frame.left, y: frame.top, width: frame.width, height: frame.height }));
    const shapes = (boxes: Box[]): SVGElement[] => boxes.flatMap((box) => [...shapesOf(box, this.hatch), ...(box.ringed === true ? [ring(box, look)] : [])]);
    const inView = svg("g", { class: "in-view", "clip-path": `url(#${this.hatch}-clip)` }, ...pathsOf(scene), ...shapes(scene.boxes), this.marks);
    this.drawing.replaceChildren(hatchPattern(this.hatch, look), clip, inView, ...shapes(this.around(look, frame, width)));
    this.describe(false);
  }

  private whole(look: Look, frame: Frame): Scene {
    return graphScene(this.of, this.shown(frame), look, frame);
  }

  private around(look: Look, frame: Frame, width: number): Box[] {
    return [...stripBoxes(this.of, this.shown(frame), look, frame), ...legendBoxes(this.of, look, width, frame.top + frame.height)];
  }

  scene(look: Look, width: number): Scene {
    const top = 36;
    const frame = this.frame(top, width);
    const scene = this.whole(look, frame);
    const head: Box = { x: 0, y: 4, width: 0, height: 24, fill: "none", text: `${this.title}: ${this.graph.label}`, textColor: look.text };
    const below: Box = { x: 0, y: frame.top + frame.height, width, height: legendHeight, fill: look.panel };
    return { ...scene, width, height: top + this.height(width), boxes: [...scene.boxes, { ...below, y: 0, height: top }, head, below, ...this.around(look, frame, width)] };
  }

  // One line about a node, its outline and its edges. `announced`: to screen readers, too.
  private describe(announced: boolean): void {
    const node = this.under ?? this.kept;
    const of = node === null ? undefined : this.graph.nodes[node];
    this.foot.setAttribute("aria-live", announced ? "polite" : "off");
    if (node === null || of === undefined) {
      this.marks.replaceChildren();
      this.foot.replaceChildren("Point at a node, or use the arrows, to read more of it.");
    } else {
      this.mark(node);
      this.foot.replaceChildren(el("strong", {}, name(`${of.kind} ${of.name}`.slice(0, 300))), ` ${of.value}`);
      for (const [title, said] of of.said) if (said !== "") this.foot.append(` · ${title} `, name(said.slice(0, 300)));
    }
    this.tellView();
  }

  private mark(node: number): void {
    if (this.drawnIn === null) return;
    const [view, frame, { look }] = [this.shown(), this.frame(), this.drawnIn];
    const screen = toScreen(view, frame);
    const [x, y] = screen(this.of.x(node) - nodeWidth / 2, this.of.y(node) - nodeHeight / 2);
    const ways = [...(this.of.makers[node] ?? []).map((maker) => [maker, node] as const), ...(this.of.readers[node] ?? []).map((reader) => [node, reader] as const)];
    this.marks.replaceChildren(
      svg("path", { d: ways.map(([from, to]) => this.of.way(from, to, view.zoom, screen)).join(""), fill: "none", stroke: look.accent, "stroke-width": 2.5 }),
      svg("rect", { x, y, width: nodeWidth * view.zoom, height: nodeHeight * view.zoom, fill: "none", stroke: look.accent, "stroke-width": 3 }),
    );
  }

  private tellView(): void {
    const frame = this.frame();
    const view = this.shown();
    const [inView, all] = [visibleNodes(this.of, view, frame).length, this.graph.nodes.length];
    this.tools.textContent = `${inView === all ? `All ${all} nodes are` : `${inView} of ${all} nodes are`} in view${isReadable(view) ? "" : "; zoom in to read them"}. The strip on the left is the whole graph: press it to go there.`;
  }
}
