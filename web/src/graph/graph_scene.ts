// What of a graph is in view, as a scene: its nodes with their texts as far as there is room, and the edges between them.
import { shortened, visible } from "../dom.ts";
import { rectangle } from "../flame/scene.ts";
import type { Box, Path, Scene } from "../flame/scene.ts";
import type { Look } from "../look.ts";
import { ramp } from "../pictures/ramp.ts";
import { layerHeight, nodeHeight, nodeWidth } from "./graph.ts";
import type { GraphNode, Places, View } from "./graph.ts";

const perCharacter = 7; // pixels, of the widest fonts at 12 px
const [oneLine, twoLines] = [15, 32]; // heights of nodes from which on there is room
const rowHeight = 2; // of the strip beside it
export const stripWidth = 14;
const legendRow = 22;

// Colours whose lightness is that of none of the texts on them: none lies in the middle.
const parts = [0.015, 0.09, 0.17, 0.265, 0.37, 0.65, 0.76, 0.88, 1];
const firstStrong = 5;

export function fillOf(step: number, look: Look): string {
  const [r, g, b] = ramp(look.dark)[Math.round(255 * (parts[step] ?? 0))] ?? [0, 0, 0];
  return step < 0 ? look.panel : `rgb(${r},${g},${b})`;
}

const textOn = (step: number, look: Look): string => (step < firstStrong ? look.text : look.panel);

export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

// Of points at zoom 1.
export function toScreen({ zoom, x, y }: View, frame: Frame): (px: number, py: number) => [number, number] {
  return (px, py) => [frame.left + frame.width / 2 + (px - x) * zoom, frame.top + frame.height / 2 + (py - y) * zoom];
}

export const isReadable = (view: View): boolean => nodeHeight * view.zoom >= oneLine;

export function visibleNodes(places: Places, view: View, frame: Frame): number[] {
  const [half, halfHeight] = [frame.width / 2 / view.zoom + nodeWidth / 2, frame.height / 2 / view.zoom];
  const rows = places.layers.slice(Math.max(0, Math.floor((view.y - halfHeight - nodeHeight) / layerHeight)), Math.ceil((view.y + halfHeight) / layerHeight) + 1);
  return rows.flatMap((row) => row.filter((node) => Math.abs(places.x(node) - view.x) < half));
}

export function graphScene(places: Places, view: View, look: Look, frame: Frame): Scene {
  const nodes = visibleNodes(places, view, frame);
  const screen = toScreen(view, frame);
  const [width, height] = [nodeWidth * view.zoom, nodeHeight * view.zoom];
  const at = (node: number): [number, number] => {
    const [x, y] = screen(places.x(node), places.y(node));
    return [x - width / 2, y - height / 2];
  };
  const paths = edgesInView(places, view, look, frame);
  const boxes: Box[] = [];
  if (isReadable(view)) {
    for (const node of nodes) boxes.push(...boxesOf(places.graph.nodes[node] as GraphNode, ...at(node), width, height, look));
  } else {
    const byStep = new Map<number, string>();
    for (const node of nodes) {
      const step = places.graph.nodes[node]?.step ?? -1;
      byStep.set(step, (byStep.get(step) ?? "") + rectangle(...at(node), Math.max(1, width), Math.max(1, height)));
    }
    for (const [step, d] of byStep) paths.push({ d, fill: fillOf(step, look), stroke: look.muted, width: Math.min(1, height / 8) });
  }
  return { width: frame.left + frame.width, height: frame.top + frame.height, paths, boxes };
}

// Those that pass through one of the layers in view, as one line, and their ends.
function edgesInView(places: Places, view: View, look: Look, frame: Frame): Path[] {
  const half = frame.height / 2 / view.zoom;
  const screen = toScreen(view, frame);
  let [lines, ends] = ["", ""];
  places.readers.forEach((readers, from) => {
    for (const to of readers) {
      const [top, bottom] = [places.y(from), places.y(to)];
      if (Math.max(top, bottom) < view.y - half || Math.min(top, bottom) > view.y + half) continue;
      lines += places.way(from, to, view.zoom, screen);
      const [x, y] = screen(places.x(to), bottom - nodeHeight / 2);
      if (bottom > top) ends += `M${(x - 3).toFixed(1)} ${(y - 6).toFixed(1)}h6l-3 6z`;
    }
  });
  const paths: Path[] = [{ d: lines, stroke: look.muted, width: Math.max(0.4, Math.min(1.2, view.zoom)) }];
  if (isReadable(view)) paths.push({ d: ends, fill: look.muted });
  return paths;
}

function boxesOf(node: GraphNode, x: number, y: number, width: number, height: number, look: Look): Box[] {
  const color = textOn(node.step, look);
  const box: Box = { x, y, width, height, fill: fillOf(node.step, look), edge: look.muted, hatched: node.step < 0, ringed: node.ringed, strip: node.part > 0 ? { at: "bottom", width: node.part * width, color } : null };
  const room = Math.floor((width - 12) / perCharacter);
  const left = room - node.value.length - 1;
  const kind = visible(node.kind.slice(0, 200).replace(/^\w+::(?=\w)/, "")); // aten::conv2d: all of PyTorch's are in a namespace
  const first = left >= Math.min(4, kind.length) ? `${shortened(kind, left)} ${node.value}` : shortened(kind, room);
  const line = (text: string, top: number): Box => ({ x, y: top, width: 0, height: 14, fill: "none", text, textColor: color });
  if (height < twoLines) return [box, line(first, y + (height - 16) / 2)];
  return [box, line(first, y + height / 2 - 17), line(ending(visible(node.name.slice(-2000)), room), y + height / 2 - 1)];
}

// Names of nodes differ at their ends: "layer4.2.conv2".
function ending(text: string, characters: number): string {
  const all = Array.from(text);
  return all.length <= characters ? text : `…${all.slice(all.length - characters + 1).join("")}`;
}

// Beside it: of each stretch of layers the strongest colour, and what of it is in view.
export function stripBoxes(places: Places, view: View, look: Look, frame: Frame): Box[] {
  const rows = Math.max(1, Math.floor(frame.height / rowHeight));
  const strongest = new Array<number>(rows).fill(-1);
  const rowOf = (y: number): number => Math.min(rows - 1, Math.max(0, Math.floor((y / places.height) * rows)));
  places.graph.nodes.forEach((node, at) => {
    for (let row = rowOf(places.y(at) - layerHeight / 2); row <= rowOf(places.y(at) + layerHeight / 2); row += 1) strongest[row] = Math.max(strongest[row] ?? -1, node.step);
  });
  const boxes: Box[] = [];
  strongest.forEach((step, row) => {
    const last = boxes[boxes.length - 1];
    if (row > 0 && last !== undefined && strongest[row - 1] === step) last.height += rowHeight;
    else boxes.push({ x: 0, y: frame.top + row * rowHeight, width: stripWidth, height: rowHeight, fill: fillOf(step, look) });
  });
  const half = frame.height / view.zoom / 2;
  const [top, bottom] = [view.y - half, view.y + half].map((y) => (Math.min(places.height, Math.max(0, y)) / places.height) * frame.height) as [number, number];
  const [y, height] = [frame.top + top, Math.max(6, bottom - top)];
  boxes.push({ x: 2.5, y: y + 2.5, width: stripWidth - 5, height: height - 5, fill: "none", edge: look.panel }); // one of the two is seen on every colour
  boxes.push({ x: 0, y, width: stripWidth, height, fill: "none", ringed: true });
  return boxes;
}

export const legendHeight = 2 * legendRow + 6;

export function legendBoxes(places: Places, look: Look, width: number, top: number): Box[] {
  const { what, steps, nodes } = places.graph;
  const each = Math.min(64, Math.floor(width / (steps.length + 1)));
  const boxes: Box[] = [{ x: -5, y: top + 2, width: 0, height: legendRow, fill: "none", text: what, textColor: look.muted }];
  steps.forEach((text, step) => boxes.push({ x: step * each, y: top + legendRow + 2, width: each, height: legendRow - 2, fill: fillOf(step, look), edge: look.muted, text, textColor: textOn(step, look) }));
  if (nodes.some(({ step }) => step < 0)) boxes.push({ x: steps.length * each, y: top + legendRow + 2, width: each, height: legendRow - 2, fill: look.panel, edge: look.muted, hatched: true, text: "none", textColor: look.text });
  return boxes;
}
