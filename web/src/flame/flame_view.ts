// A flame graph that people use: its way back, its search, the line that says more about a frame, the keyboard, and the
// address that keeps what it shows.
import { el, freshId, name, onPlainKeys, shortened, svg, visible } from "../dom.ts";
import type { Look } from "../look.ts";
import { boxOf, legendBoxes, legendHeight, rowHeight, valueAndShare, valueText } from "./boxes.ts";
import type { Painted, Reading } from "./boxes.ts";
import { found, inWords, isFound, searchFor, smallLevel, viewOf } from "./frames.ts";
import type { Found, Frame, Hit, Placed, View } from "./frames.ts";
import { hatchPattern, shapesOf } from "./scene.ts";
import type { Box, Scene } from "./scene.ts";

// What is shown, which controls of the picture change.
export interface Shown extends Reading {
  root: Frame;
  whole: number; // seconds that the full width stands for at least
}

export interface Ways {
  upward?: boolean; // the root at the bottom: what is above a frame called it
  more?: HTMLElement; // shared with another graph
  // What else can be done with a frame, as a button beside what is reported about it; null: nothing.
  act?(frame: Frame): { text: string; act(): void } | null;
}

// Frames that something else than a search asks for: those of a clause.
interface Picked {
  label: string;
  cleared?(): void;
  has: Hit;
}

export class FlameView {
  readonly tools: HTMLElement;
  readonly zoomed: HTMLElement; // the way back, part of the tools
  readonly more: HTMLElement; // about a frame; beneath, as its height changes from frame to frame
  path: readonly string[] = []; // to the view's root: [] is all
  private readonly way = el("ol", { class: "way" });
  private readonly input = el("input", { type: "search", oninput: () => this.search() });
  private readonly regular = el("input", { type: "checkbox", onchange: () => this.search() });
  private readonly result = el("output", { class: "note" });
  private readonly hatch = freshId("hatch");
  private focused = 0; // index into view.placed
  private view: View | null = null;
  private items: SVGElement[] = [];
  private finding: Found | null = null;
  private picked: Picked | null = null;
  private readonly clear = el("button", { type: "button", class: "small", hidden: true, onclick: () => this.pick(null) }, "Clear");
  private revealed = false; // before it was drawn
  private drawnIn: { box: HTMLElement; look: Look; width: number } | null = null;

  constructor(
    private readonly title: string,
    private readonly shown: () => Shown,
    private readonly changed: (path: readonly string[]) => void, // the way to the view's root
    private readonly ways: Ways = {},
  ) {
    this.more = ways.more ?? el("p", { class: "more-of-it" });
    this.zoomed = el("div", { role: "group", "aria-label": `Zoom: ${title}` }, this.way);
    this.tools = el(
      "div",
      { class: "flame-tools" },
      el("div", { class: "controls" }, el("label", {}, "Search ", this.input), el("label", {}, this.regular, " Regular expression"), this.result, this.clear),
      this.zoomed,
    );
  }

  // Paths that lead nowhere lead as far as they can.
  open(path: readonly string[]): void {
    this.path = path;
  }

  height(width: number): number {
    const { view, painted } = this.layout();
    return heightOf(view, painted, width);
  }

  // What stands around the drawing, so that it takes its room before there is one.
  prepare(): void {
    this.view = this.layout().view;
    this.focused = Math.max(0, this.view.placed.findIndex((placed) => placed.depth === (this.view as View).way.length - 1));
    this.showWay();
    this.tell(this.focused);
  }

  draw(box: HTMLElement, look: Look, width: number): void {
    const { view, painted } = this.layout();
    const hadFocus = box.contains(document.activeElement);
    this.drawnIn = { box, look, width };
    this.finding = this.lookedFor();
    this.prepare();
    const legend = legendBoxes(painted, look, width, view.rows * rowHeight);
    const height = heightOf(view, painted, width);
    this.items = view.placed.map((placed, index) => this.item(placed, index, this.turned(boxOf(placed, view, painted, look, width, 0), view, 0), painted));
    const tree = svg("g", { role: "tree", "aria-label": this.title }, ...this.items);
    const drawing = svg("svg", { class: "flame", width, height, viewBox: `0 0 ${width} ${height}` }, hatchPattern(this.hatch, look), tree);
    if (legend.length > 0) drawing.append(svg("g", { "aria-hidden": "true" }, ...legend.flatMap((each) => shapesOf(each, this.hatch))));
    tree.addEventListener("click", (event) => this.act(this.indexOf(event.target), (index) => this.zoomTo(index)));
    tree.addEventListener("pointerover", (event) => this.act(this.indexOf(event.target), (index) => this.tell(index)));
    tree.addEventListener("focusin", (event) => this.act(this.indexOf(event.target), (index) => this.tell(index)));
    onPlainKeys(tree, ({ key }) => (this.view === null ? undefined : this.keyAct(key, this.view.placed)));
    box.style.height = `${height}px`;
    box.replaceChildren(drawing);
    this.showFound();
    if (this.revealed) this.focusFound();
    this.revealed = false;
    if (hadFocus) this.items[this.focused]?.focus({ preventScroll: true });
  }

  scene(look: Look, width: number): Scene {
    const { view, painted } = this.layout();
    const finding = this.lookedFor();
    const top = 36;
    const legend = legendBoxes(painted, look, width - 24, top + view.rows * rowHeight);
    const frames = view.placed.map((placed): Box => {
      const box = this.turned(boxOf(placed, view, painted, look, width - 24, top), view, top);
      return finding === null ? box : { ...box, faded: !isFound(placed.frame, finding), ringed: isFound(placed.frame, finding) };
    });
    const head: Box = { x: 0, y: 4, width: 0, height: 24, fill: "none", text: this.title, textColor: look.text };
    const boxes = [head, ...frames, ...legend].map((box) => ({ ...box, x: box.x + 12 - (box === head ? 5 : 0) }));
    return { width, height: top + heightOf(view, painted, width - 24) + 8, boxes };
  }

  private turned(box: Box, view: View, top: number): Box {
    return this.ways.upward === true ? { ...box, y: 2 * top + view.rows * rowHeight - rowHeight - box.y } : box;
  }

  private layout(): { view: View; painted: Painted } {
    const { root, mode, whole, time } = this.shown();
    const view = viewOf(root, this.path, mode, whole);
    // Of what is not the whole: the whole itself would leave little colour to its parts.
    let strongest = 0;
    for (const { frame } of view.placed) if (frame !== root && frame.level !== "kind") strongest = Math.max(strongest, Math.abs(frame.values.difference));
    return { view, painted: { mode, time, strongest } };
  }

  private item(placed: Placed, index: number, box: Box, painted: Painted): SVGElement {
    const { frame, position, siblings, depth } = placed;
    const hasChildren = frame.children.length > 0;
    const said = [
      `${visible(frame.name(painted.mode).slice(0, 300))} ${valueText(frame, painted)}`, // as it is written into the frame
      frame.level,
      painted.mode === "difference" && !frame.separable ? "not separable" : "",
      placed.above ? "zoomed into" : "",
    ];
    // What is read on it is part of its name, so that it can be called by it.
    const read = visible(box.text ?? "").replace(/\s+/g, " ").trim();
    if (!said.join(", ").includes(read)) said.push(read);
    return svg(
      "g",
      {
        role: "treeitem",
        class: placed.above ? "frame above" : "frame",
        tabindex: index === this.focused ? 0 : -1,
        "aria-level": depth + 1,
        "aria-posinset": position,
        "aria-setsize": siblings,
        "aria-expanded": hasChildren ? String(this.childrenAreDrawn(index)) : undefined,
        "aria-label": said.filter((text) => text !== "").join(", "),
        "data-frame": index,
      },
      ...shapesOf(box, this.hatch),
    );
  }

  private childrenAreDrawn(index: number): boolean {
    const placed = this.view?.placed ?? [];
    return placed[index + 1] !== undefined && (placed[index + 1] as Placed).depth > (placed[index] as Placed).depth;
  }

  private indexOf(target: EventTarget | null): number {
    const item = target instanceof Element ? target.closest("[data-frame]") : null;
    return item === null ? -1 : Number(item.getAttribute("data-frame"));
  }

  private act(index: number, what: (index: number) => void): void {
    if (index >= 0) what(index);
  }

  // Small frames that are drawn as one come apart where the view begins at what encloses them, or at themselves.
  private zoomTo(index: number): void {
    const placed = this.view?.placed[index];
    if (placed === undefined || this.view === null) return;
    const top = this.view.way.length - 1;
    const small = placed.frame.level === smallLevel && placed.depth > top + 1;
    this.zoom(small ? placed.path.slice(0, -1) : placed.path);
  }

  private zoom(path: readonly string[]): void {
    this.path = path;
    this.changed(path);
    const at = this.drawnIn;
    if (at !== null) this.draw(at.box, at.look, at.width);
  }

  private keyAct(key: string, placed: Placed[]): (() => void) | undefined {
    const here = placed[this.focused];
    if (here === undefined) return undefined;
    const to = (index: number): (() => void) => () => this.focus(index);
    const row = placed.flatMap((each, index) => (each.depth === here.depth ? [index] : []));
    const at = row.indexOf(this.focused);
    switch (key) {
      case "ArrowLeft":
        return to(row[at - 1] ?? this.focused);
      case "ArrowRight":
        return to(row[at + 1] ?? this.focused);
      case "Home":
        return to(row[0] ?? this.focused);
      case "End":
        return to(row[row.length - 1] ?? this.focused);
      case this.ways.upward === true ? "ArrowDown" : "ArrowUp":
        return to(this.parentOf(this.focused));
      case this.ways.upward === true ? "ArrowUp" : "ArrowDown":
        return to(this.childrenAreDrawn(this.focused) ? this.focused + 1 : this.focused);
      case "Enter":
      case " ":
        return () => this.zoomTo(this.focused);
      case "Escape":
        return this.path.length === 0 ? undefined : () => this.zoom(this.path.slice(0, -1));
      default:
        return undefined;
    }
  }

  private parentOf(index: number): number {
    const placed = this.view?.placed ?? [];
    const depth = placed[index]?.depth ?? 0;
    for (let i = index - 1; i >= 0; i -= 1) if ((placed[i] as Placed).depth < depth) return i;
    return index;
  }

  private focus(index: number): void {
    this.items[this.focused]?.setAttribute("tabindex", "-1");
    this.focused = index;
    this.items[index]?.setAttribute("tabindex", "0");
    this.items[index]?.focus({ preventScroll: true });
  }

  // One line about a frame, its details behind it.
  private tell(index: number): void {
    const frame = this.view?.placed[index]?.frame;
    if (frame === undefined) return;
    const shown = this.shown();
    const text = frame.name(shown.mode);
    this.more.replaceChildren(el("strong", {}, name(shortened(text, 120), text.slice(0, 2000))), ` ${frame.level}, ${valueAndShare(frame, shown.root, shown)}`);
    for (const [title, said] of frame.about()) if (said !== "") this.more.append(" · ", title === "" ? "" : `${title} `, name(shortened(said.slice(0, 2000), 160)));
    const can = this.ways.act?.(frame) ?? null;
    if (can !== null) this.more.append(" ", el("button", { type: "button", class: "small", onclick: () => can.act() }, can.text));
  }

  private showWay(): void {
    const { mode } = this.shown();
    const frames = this.view?.way ?? [];
    const step = (frame: Frame, index: number): HTMLElement => {
      const text = name(shortened(frame.name(mode), 40));
      if (index === frames.length - 1) return el("li", { "aria-current": "true" }, text);
      const path = frames.slice(1, index + 1).map((each) => each.key);
      return el("li", {}, el("button", { type: "button", class: "small", onclick: () => this.stepBack(path) }, text));
    };
    this.way.replaceChildren(...frames.map(step));
  }

  private stepBack(path: string[]): void {
    this.zoom(path);
    this.items[this.focused]?.focus({ preventScroll: true });
  }

  private lookedFor(): Found | null {
    if (this.picked !== null) return found(this.shown().root, this.picked.has);
    const search = searchFor(this.input.value, this.regular.checked);
    return typeof search === "function" ? found(this.shown().root, inWords(search)) : null;
  }

  private search(): void {
    this.picked = null;
    this.finding = this.lookedFor();
    this.showFound();
  }

  // Shown as what a search finds, until there is one.
  pick(picked: Picked | null): void {
    this.input.value = "";
    if (picked === null) this.picked?.cleared?.();
    this.picked = picked;
    this.finding = this.lookedFor();
    this.showFound();
    if (picked === null) this.input.focus();
  }

  // At what was found. Pictures that are far from the window are drawn when they come near it.
  reveal(figure: HTMLElement): void {
    figure.scrollIntoView();
    if (this.drawnIn === null) this.revealed = true;
    else this.focusFound();
  }

  private focusFound(): void {
    const index = this.finding === null ? -1 : (this.view?.placed ?? []).findIndex(({ frame }) => isFound(frame, this.finding as Found));
    if (index >= 0) this.focus(index);
  }

  private showFound(): void {
    const finding = this.finding;
    this.items.forEach((item, index) => {
      const hit = finding !== null && isFound((this.view?.placed[index] as Placed).frame, finding);
      item.classList.toggle("hit", hit);
      item.classList.toggle("miss", finding !== null && !hit);
    });
    this.clear.hidden = this.picked === null;
    this.result.textContent = this.foundText();
  }

  private foundText(): string {
    const [finding, shown] = [this.finding, this.shown()];
    const search = searchFor(this.input.value, this.regular.checked);
    if (finding === null) return typeof search === "string" ? search : "";
    const of = this.picked === null ? "" : `${visible(shortened(this.picked.label, 60))}: `;
    if (finding.count === 0) return `${of}nothing found`;
    return `${of}${finding.count} found: ${valueAndShare({ values: finding.values, interval: null }, shown.root, shown)}`;
  }
}

function heightOf(view: View, painted: Painted, width: number): number {
  return view.rows * rowHeight + 4 + legendHeight(painted, width);
}
