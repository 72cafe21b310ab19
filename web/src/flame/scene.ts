// A drawing as lines and boxes with text: as elements of the page, as an SVG file and on a canvas, which the PNG files come from.
import { svg, visible } from "../dom.ts";
import type { Look } from "../look.ts";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  fill: string;
  edge?: string; // the colour of its outline
  hatched?: boolean;
  strip?: { at: "top" | "bottom"; width: number; color: string } | null;
  faded?: boolean;
  ringed?: boolean;
  text?: string;
  textColor?: string;
}

export interface Path {
  d: string;
  fill?: string;
  stroke?: string;
  width?: number;
}

export interface Scene {
  width: number;
  height: number;
  paths?: Path[]; // beneath the boxes
  boxes: Box[];
}

const stripHeight = 4;
const textSize = 12;
const hatchStep = 7;

export const rectangle = (x: number, y: number, width: number, height: number): string => `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
const round = (value: number): number => Math.round(value * 100) / 100;

// `hatch`: the id of the pattern.
export function shapesOf(box: Box, hatch: string): SVGElement[] {
  const { x, y, width, height, strip } = box;
  const shapes = [svg("path", { d: rectangle(x, y, width, height), fill: box.fill, stroke: box.edge, class: "area" })];
  if (box.hatched === true) shapes.push(svg("path", { d: rectangle(x, y, width, height), fill: `url(#${hatch})` }));
  if (strip) shapes.push(svg("path", { d: rectangle(x, stripTop(box, strip.at), strip.width, stripHeight), fill: strip.color }));
  if (box.text !== undefined && box.text !== "") {
    shapes.push(svg("text", { x: round(x + 5), y: round(baseline(box)), fill: box.textColor, "font-size": textSize, "aria-hidden": "true" }, visible(box.text)));
  }
  return shapes;
}

export function pathsOf(scene: Scene): SVGElement[] {
  return (scene.paths ?? []).map(({ d, fill, stroke, width }) => svg("path", { d, fill: fill ?? "none", stroke, "stroke-width": width }));
}

const stripTop = (box: Box, at: "top" | "bottom"): number => (at === "top" ? box.y : box.y + box.height - stripHeight);
const baseline = (box: Box): number => box.y + box.height / 2 + textSize * 0.36;

export function hatchPattern(id: string, look: Look): SVGElement {
  const line = svg("path", { d: `M0 0v${hatchStep}`, stroke: look.text, "stroke-width": 1.4, "stroke-opacity": 0.45 });
  return svg("defs", {}, svg("pattern", { id, width: hatchStep, height: hatchStep, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, line));
}

// A file of its own, with the ground that the page has.
export function sceneSvg(scene: Scene, title: string, look: Look): SVGElement {
  const { width, height } = scene;
  const ground = svg("path", { d: rectangle(0, 0, width, height), fill: look.panel });
  const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": look.font }, svg("title", {}, visible(title)), hatchPattern("hatch", look), ground, ...pathsOf(scene));
  for (const box of scene.boxes) root.append(svg("g", { opacity: box.faded === true ? 0.35 : undefined }, ...shapesOf(box, "hatch"), box.ringed === true ? ring(box, look) : null));
  return root;
}

export function ring(box: Box, look: Look): SVGElement {
  return svg("path", { d: rectangle(box.x + 1, box.y + 1, Math.max(1, box.width - 2), box.height - 2), fill: "none", stroke: look.text, "stroke-width": 2 });
}

export function paintScene(scene: Scene, canvas: HTMLCanvasElement, look: Look, scale: number): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = look.panel;
  context.fillRect(0, 0, scene.width, scene.height);
  context.font = `${textSize}px ${look.font}`;
  for (const { d, fill, stroke, width } of scene.paths ?? []) {
    const path = new Path2D(d);
    context.lineWidth = width ?? 1;
    [context.fillStyle, context.strokeStyle] = [fill ?? "", stroke ?? ""];
    if (fill !== undefined) context.fill(path);
    if (stroke !== undefined) context.stroke(path);
  }
  for (const box of scene.boxes) paintBox(context, box, look);
}

function paintBox(context: CanvasRenderingContext2D, box: Box, look: Look): void {
  const { x, y, width, height, strip } = box;
  context.globalAlpha = box.faded === true ? 0.35 : 1;
  context.fillStyle = box.fill;
  if (box.fill !== "none") context.fillRect(x, y, width, height);
  if (box.hatched === true) paintHatch(context, box, look);
  if (box.edge !== undefined) {
    context.strokeStyle = box.edge;
    context.lineWidth = 1;
    context.strokeRect(x, y, width, height);
  }
  if (strip) {
    context.fillStyle = strip.color;
    context.fillRect(x, stripTop(box, strip.at), strip.width, stripHeight);
  }
  if (box.ringed === true) {
    context.strokeStyle = look.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(1, width - 2), height - 2);
  }
  context.fillStyle = box.textColor ?? look.text;
  context.fillText(visible(box.text ?? ""), x + 5, baseline(box));
  context.globalAlpha = 1;
}

function paintHatch(context: CanvasRenderingContext2D, { x, y, width, height }: Box, look: Look): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.beginPath();
  const step = hatchStep * Math.SQRT2;
  for (let at = x - height - ((x - height) % step); at < x + width; at += step) {
    context.moveTo(at + height, y);
    context.lineTo(at, y + height);
  }
  context.globalAlpha *= 0.45;
  context.lineWidth = 1.4;
  context.strokeStyle = look.text;
  context.stroke();
  context.restore();
}

// Colours as #rrggbb: so much of the second.
export function mixed(first: string, second: string, part: number): string {
  const channel = (color: string, at: number): number => parseInt(color.slice(1 + 2 * at, 3 + 2 * at), 16) || 0;
  const mix = (at: number): string => Math.round(channel(first, at) * (1 - part) + channel(second, at) * part).toString(16).padStart(2, "0");
  return `#${mix(0)}${mix(1)}${mix(2)}`;
}
