// Planes of pixels that people look into: zoomed and moved together, the values of all three under one crosshair, and one
// in place of the other.
import type { DifferencePicture } from "../document.ts";
import { el, onPlainKeys } from "../dom.ts";
import { digits, placeText } from "../format.ts";
import type { Look } from "../look.ts";
import { chooseSoon, chosenFor, onAddress } from "../state.ts";
import { greys, ramp } from "./ramp.ts";
import type { Ramp } from "./ramp.ts";

export interface Pixel {
  row: number;
  column: number;
}

interface Place {
  plane: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

const [gap, titleHeight, scaleHeight] = [16, 22, 40]; // the last one: a bar and its numbers
const [tallest, tallestAlone] = [420, 640];
const highest = 65532; // level; above it is what is no finite number
const notFinite = ["−∞", "∞", "NaN"];
const titles = ["Reference", "Candidate", "|Difference|"] as const;
const difference = 2;
const blink_ms = 500; // a change; its whole turn is a second

// What a row or column of the thinned plane stands for: "12", "12–15".
function range(at: number, thinned: number, full: number): string {
  const [first, last] = [Math.floor((at * full) / thinned), Math.floor(((at + 1) * full) / thinned) - 1];
  return first >= last ? String(first) : `${first}–${last}`;
}

export function isThinned(of: DifferencePicture): boolean {
  return of.rows < of.full_rows || of.columns < of.full_columns;
}

export const rowsOf = (of: DifferencePicture, row: number): string => range(row, of.rows, of.full_rows);

function placeOf(of: DifferencePicture, { row, column }: Pixel): string {
  return placeText([...of.plane, rowsOf(of, row), range(column, of.columns, of.full_columns)]);
}

// The levels of a plane, 0 … 65535.
export function levels(packed: string, size: number): Uint16Array {
  const [bytes, values] = [atob(packed), new Uint16Array(size)];
  for (let i = 0; i < size; i += 1) values[i] = 256 * bytes.charCodeAt(i) + bytes.charCodeAt(size + i);
  return values;
}

// With as many digits as a step between two levels leaves exact.
export function valueOf(level: number, low: number, high: number): string {
  if (level > highest) return notFinite[level - highest - 1] ?? "";
  const step = (high - low) / highest;
  const value = low + level * step;
  return digits(value, within(Math.floor(Math.log10(Math.abs(value))) - Math.ceil(Math.log10(step)) + 1, 1, 7));
}

const within = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

export class PlanesView {
  readonly tools: HTMLElement;
  readonly foot = el("p", { class: "more-of-it" });
  private readonly canvas = el("canvas", { class: "planes" });
  private readonly decoded = new Map<number, Uint16Array>(); // when they are drawn
  private readonly images = new Map<string, HTMLCanvasElement>();
  private readonly worst: Pixel | null;
  private only: number | null = null; // the plane that is shown alone
  private zoomed = 1; // times
  private left = 0; // of what is in view, in pixels of the planes
  private top = 0;
  private kept: Pixel | null = null; // where the crosshair was put
  private under: Pixel | null = null; // the pointer
  private timer = 0;
  private readonly automatic: HTMLButtonElement;
  private readonly buttons: [HTMLButtonElement, () => boolean][] = [];
  private drawn: { box: HTMLElement; look: Look; width: number; height: number } | null = null;
  private redraw = (): void => undefined;

  constructor(
    private readonly of: DifferencePicture,
    private readonly label: string,
    private readonly address: string,
  ) {
    this.worst = of.largest === null ? null : { row: Math.ceil(((of.largest.row + 1) * of.rows) / of.full_rows) - 1, column: Math.ceil(((of.largest.column + 1) * of.columns) / of.full_columns) - 1 };
    const button = (text: string, title: string, pressed: () => boolean, act: () => void): HTMLButtonElement => {
      const made = el("button", { type: "button", class: "small", title, onclick: act }, text);
      this.buttons.push([made, pressed]);
      return made;
    };
    this.automatic = button("Blink by itself", "Twice a second, until it is pressed again; not where less motion is asked for", () => this.timer !== 0, () => this.blink());
    this.tools = el(
      "div",
      { class: "controls planes", role: "group", "aria-label": "Planes" },
      button("All three", "Beside each other (a)", () => this.only === null, () => this.alone(null)),
      button("Blink", "Reference and candidate in one place, in turn (b)", () => this.only !== null && this.only < difference, () => this.flip()),
      button("|Difference|", "Alone, in the same place (d)", () => this.only === difference, () => this.alone(difference)),
      this.automatic,
    );
    this.read();
    onAddress(() => this.read());
    this.listen();
  }

  // --- what readers choose ---

  private read(): void {
    const [plane = "", view = "", at = ""] = (chosenFor(this.address) ?? "").split("/");
    const numbers = (text: string): number[] => (/^[\d.,]+$/.test(text) ? text.split(",").map(Number) : []);
    this.only = /^[012]$/.test(plane) ? Number(plane) : null;
    const [zoom = 1, left = 0, top = 0] = numbers(view);
    this.zoomed = within(zoom || 1, 1, this.closest());
    [this.left, this.top] = this.inside(left || 0, top || 0);
    const [row, column] = numbers(at).map(Math.floor);
    this.kept = row !== undefined && column !== undefined && row < this.of.rows && column < this.of.columns ? { row, column } : null;
  }

  private keep(): void {
    const round = (value: number): number => Number(value.toPrecision(5));
    const view = this.zoomed === 1 ? "" : [this.zoomed, this.left, this.top].map(round).join(",");
    const at = this.kept === null ? "" : `${this.kept.row},${this.kept.column}`;
    const text = `${this.only ?? ""}/${view}/${at}`;
    chooseSoon(this.address, text === "//" ? null : text);
  }

  private stop(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
  }

  private alone(plane: number | null): void {
    this.stop();
    this.show(plane, true);
  }

  private show(plane: number | null, reported: boolean): void {
    const resized = (plane === null) !== (this.only === null);
    this.only = plane;
    this.keep();
    if (resized) this.redraw();
    this.refresh(reported);
  }

  private flip(): void {
    this.alone(this.only === 0 ? 1 : 0);
  }

  private blink(): void {
    if (this.timer !== 0) return this.alone(this.only);
    this.flip();
    this.timer = window.setInterval(() => this.show(this.only === 0 ? 1 : 0, false), blink_ms);
    this.refresh(true);
  }

  private closest(): number {
    return Math.max(2, Math.min(this.of.rows, this.of.columns) / 4);
  }

  private inside(left: number, top: number): [number, number] {
    const most = 1 - 1 / this.zoomed;
    return [within(left, 0, this.of.columns * most), within(top, 0, this.of.rows * most)];
  }

  private move(left: number, top: number): void {
    [this.left, this.top] = this.inside(left, top);
    this.keep();
    this.refresh(false);
  }

  // factor 0 shows all. What lies at `x`, `y` stays there: the crosshair, or the middle.
  zoom(factor: number, x = this.kept === null ? this.left + this.of.columns / this.zoomed / 2 : this.kept.column + 0.5, y = this.kept === null ? this.top + this.of.rows / this.zoomed / 2 : this.kept.row + 0.5): void {
    const before = this.zoomed;
    this.zoomed = factor === 0 ? 1 : within(before / factor, 1, this.closest());
    const share = before / this.zoomed;
    this.move(x - (x - this.left) * share, y - (y - this.top) * share);
  }

  private put(pixel: Pixel | null): void {
    [this.kept, this.under] = [pixel, null];
    this.keep();
    this.refresh(true);
  }

  // The crosshair by one pixel, followed by what is in view; `far`: what is in view, by half of it.
  private step(right: number, down: number, far: boolean): void {
    const [width, height] = [this.of.columns / this.zoomed, this.of.rows / this.zoomed];
    if (far) return this.move(this.left + (right * width) / 2, this.top + (down * height) / 2);
    const from = this.kept;
    const { row, column } = from ?? this.worst ?? { row: Math.floor(this.of.rows / 2), column: Math.floor(this.of.columns / 2) };
    const to = from === null ? { row, column } : { row: within(row + down, 0, this.of.rows - 1), column: within(column + right, 0, this.of.columns - 1) };
    const isInView = to.column >= this.left && to.column + 1 <= this.left + width && to.row >= this.top && to.row + 1 <= this.top + height;
    if (!isInView) [this.left, this.top] = this.inside(to.column + 0.5 - width / 2, to.row + 0.5 - height / 2);
    this.put(to);
  }

  // --- pointers and keys ---

  private pixelAt(event: MouseEvent): { place: Place; x: number; y: number } | null {
    const place = this.places(this.drawn?.width ?? 1).find(({ x, y, width, height }) => event.offsetX >= x && event.offsetX < x + width && event.offsetY >= y && event.offsetY < y + height);
    if (place === undefined) return null;
    return { place, x: this.left + ((event.offsetX - place.x) / place.width) * (this.of.columns / this.zoomed), y: this.top + ((event.offsetY - place.y) / place.height) * (this.of.rows / this.zoomed) };
  }

  private listen(): void {
    let start: { x: number; y: number; left: number; top: number; place: Place; moved: boolean } | null = null;
    const pixel = (event: MouseEvent): Pixel | null => {
      const hit = this.pixelAt(event);
      return hit === null ? null : { row: Math.floor(hit.y), column: Math.floor(hit.x) };
    };
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      const hit = this.pixelAt(event);
      if (hit === null || event.button !== 0) return;
      start = { x: event.offsetX, y: event.offsetY, left: this.left, top: this.top, place: hit.place, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (start !== null && Math.hypot(event.offsetX - start.x, event.offsetY - start.y) > 3) start.moved = true;
      if (start !== null && start.moved) {
        const { place } = start;
        return this.move(start.left - ((event.offsetX - start.x) / place.width) * (this.of.columns / this.zoomed), start.top - ((event.offsetY - start.y) / place.height) * (this.of.rows / this.zoomed));
      }
      this.under = pixel(event);
      this.refresh(false);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (start !== null && !start.moved) this.put(pixel(event));
      start = null;
    });
    canvas.addEventListener("pointercancel", () => (start = null));
    canvas.addEventListener("pointerleave", () => {
      this.under = null;
      this.refresh(false);
    });
    canvas.addEventListener("wheel", (event) => {
      const hit = this.pixelAt(event);
      if (!event.ctrlKey || hit === null) return;
      event.preventDefault();
      this.zoom(2 ** within(event.deltaY / 100, -1, 1), hit.x, hit.y);
    }, { passive: false });
  }

  // Of its place on the page, which has the focus.
  watch(figure: HTMLElement, redraw: () => void): void {
    this.redraw = redraw;
    onPlainKeys(figure.querySelector(".drawing"), ({ key, shiftKey }) => {
      const acts: Record<string, () => void> = {
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        "0": () => this.zoom(0),
        a: () => this.alone(null),
        b: () => this.flip(),
        d: () => this.alone(difference),
        Escape: () => this.put(null),
        ArrowLeft: () => this.step(-1, 0, shiftKey),
        ArrowRight: () => this.step(1, 0, shiftKey),
        ArrowUp: () => this.step(0, -1, shiftKey),
        ArrowDown: () => this.step(0, 1, shiftKey),
      };
      return acts[key];
    });
  }

  // --- drawing ---

  private plane(index: number): Uint16Array {
    const { of } = this;
    const made = this.decoded.get(index) ?? levels([of.reference, of.candidate, of.difference][index] ?? "", of.rows * of.columns);
    this.decoded.set(index, made);
    return made;
  }

  // Side by side where there is room, else one above the other. Pixels are as wide and as high as those of the output.
  private places(width: number): Place[] {
    const shown = this.only === null ? [0, 1, 2] : [this.only];
    const beside = shown.length > 1 && width >= 560;
    const room = beside ? (width - 2 * gap) / 3 : width;
    const times = Math.min(room / this.of.full_columns, (shown.length > 1 ? tallest : tallestAlone) / this.of.full_rows);
    const [planeWidth, planeHeight] = [this.of.full_columns, this.of.full_rows].map((side) => Math.max(1, Math.round(side * times))) as [number, number];
    const step = titleHeight + planeHeight + scaleHeight;
    return shown.map((plane, i) => ({ plane, x: beside ? Math.round(i * (room + gap)) : 0, y: (beside ? 0 : i * (step + gap / 2)) + titleHeight, width: planeWidth, height: planeHeight }));
  }

  height(width: number): number {
    const last = this.places(width).at(-1) as Place;
    return last.y + last.height + scaleHeight;
  }

  prepare(): void {
    this.tell(false);
  }

  draw(box: HTMLElement, look: Look, width: number): void {
    const height = this.height(width);
    this.drawn = { box, look, width, height };
    const shortcuts = "+ - 0 a b d Escape ArrowLeft ArrowRight ArrowUp ArrowDown";
    for (const [key, value] of Object.entries({ role: "img", tabindex: "0", "aria-label": this.label, "aria-keyshortcuts": shortcuts })) box.setAttribute(key, value);
    box.style.height = `${height}px`;
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    if (!box.contains(this.canvas)) box.replaceChildren(this.canvas);
    this.refresh(false);
  }

  // `told`: to readers of the screen, too.
  private refresh(reported: boolean): void {
    this.tell(reported);
    if (this.drawn !== null) this.paint(this.canvas, this.drawn.look, this.drawn.width, this.drawn.height, Math.min(3, window.devicePixelRatio || 1));
  }

  private tell(reported: boolean): void {
    this.automatic.disabled = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.automatic.disabled) this.stop();
    for (const [button, pressed] of this.buttons) button.setAttribute("aria-pressed", String(pressed()));
    this.canvas.style.touchAction = this.zoomed > 1 ? "pan-y" : "auto";
    const at = this.under ?? this.kept;
    const shown = this.only === null ? "" : `${titles[this.only] ?? ""} is shown. `;
    this.foot.setAttribute("aria-live", reported ? "polite" : "off");
    this.foot.textContent = shown + (at === null ? "Point at a pixel, or use the arrows, to read its values." : this.said(at));
  }

  private said(at: Pixel): string {
    const { of } = this;
    const [mean, most] = isThinned(of) ? [" (mean)", " (largest)"] : ["", ""];
    const level = (plane: number): number => this.plane(plane)[at.row * of.columns + at.column] ?? 0;
    const value = (plane: number): string => valueOf(level(plane), of.scale.low, of.scale.high);
    const apart = level(difference) > highest ? "finite in one only" : valueOf(level(difference), 0, of.max_difference);
    return `${placeOf(of, at)}: reference ${value(0)}${mean}, candidate ${value(1)}${mean}, |difference| ${apart}${most}`;
  }

  paint(canvas: HTMLCanvasElement, look: Look, width: number, height: number, scale: number): void {
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = look.panel;
    context.fillRect(0, 0, width, height);
    for (const place of this.places(width)) {
      const colors = place.plane === difference ? ramp(look.dark) : greys;
      text(context, look, titles[place.plane] ?? "", place.x, place.y - 7, "left", 600);
      this.paintPlane(context, look, place, colors);
      const [low, high] = place.plane === difference ? [0, this.of.max_difference] : [this.of.scale.low, this.of.scale.high];
      scaleBar(context, look, colors, low, high, place);
    }
  }

  private paintPlane(context: CanvasRenderingContext2D, look: Look, place: Place, colors: Ramp): void {
    const { rows, columns } = this.of;
    const key = `${place.plane}${look.dark}`;
    const made = this.images.get(key) ?? image(this.plane(place.plane), columns, rows, colors);
    this.images.set(key, made);
    const [pixelWidth, pixelHeight] = [(place.width / columns) * this.zoomed, (place.height / rows) * this.zoomed];
    context.save();
    context.beginPath();
    context.rect(place.x, place.y, place.width, place.height);
    context.clip();
    // Pixels that are drawn larger stay rectangles: between them nothing was measured.
    context.imageSmoothingEnabled = pixelWidth < 1;
    context.drawImage(made, place.x - this.left * pixelWidth, place.y - this.top * pixelHeight, columns * pixelWidth, rows * pixelHeight);
    const at = (pixel: Pixel): [number, number] => [place.x + (pixel.column + 0.5 - this.left) * pixelWidth, place.y + (pixel.row + 0.5 - this.top) * pixelHeight];
    if (place.plane === difference && this.worst !== null) {
      const [x, y] = at(this.worst);
      outlined(context, look, () => context.arc(x, y, Math.max(7, pixelWidth), 0, 2 * Math.PI));
    }
    const cross = this.under ?? this.kept;
    if (cross !== null) {
      const [x, y] = at(cross);
      const [halfWidth, halfHeight] = [Math.max(4, pixelWidth / 2), Math.max(4, pixelHeight / 2)];
      outlined(context, look, () => {
        context.rect(x - halfWidth, y - halfHeight, 2 * halfWidth, 2 * halfHeight);
        for (const [side, arm] of [[-1, 10], [1, 10]] as const) {
          context.moveTo(x + side * halfWidth, y);
          context.lineTo(x + side * (halfWidth + arm), y);
          context.moveTo(x, y + side * halfHeight);
          context.lineTo(x, y + side * (halfHeight + arm));
        }
      });
    }
    context.restore();
  }
}

// Dark within light: to be seen on every colour.
function outlined(context: CanvasRenderingContext2D, look: Look, path: () => void): void {
  context.beginPath();
  path();
  for (const [width, color] of [[4, look.panel], [1.75, look.text]] as const) {
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }
}

const odd = [214, 39, 40, 255]; // what is no finite number

function image(values: Uint16Array, columns: number, rows: number, colors: Ramp): HTMLCanvasElement {
  const canvas = el("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const pixels = new ImageData(columns, rows);
  values.forEach((value, i) => pixels.data.set(value > highest ? odd : (colors[value >> 8] ?? odd), 4 * i));
  canvas.getContext("2d")?.putImageData(pixels, 0, 0);
  return canvas;
}

function scaleBar(context: CanvasRenderingContext2D, look: Look, colors: Ramp, low: number, high: number, place: Place): void {
  const [y, width] = [place.y + place.height + 6, Math.max(place.width, 150)];
  context.drawImage(image(Uint16Array.from({ length: 256 }, (_, i) => Math.min(highest, 256 * i)), 256, 1, colors), place.x, y, width, 10);
  context.strokeStyle = look.muted;
  context.lineWidth = 1;
  context.strokeRect(place.x + 0.5, y + 0.5, width - 1, 10);
  text(context, look, digits(low), place.x, y + 25, "left");
  text(context, look, digits(high), place.x + width, y + 25, "right");
}

function text(context: CanvasRenderingContext2D, look: Look, content: string, x: number, y: number, align: CanvasTextAlign, weight = 400): void {
  context.font = `${weight} 12px ${look.font}`;
  context.fillStyle = weight > 400 ? look.text : look.muted;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
  context.fillText(content, x, y);
}
