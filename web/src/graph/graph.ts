// A graph as its picture has it: what its nodes are called and coloured by, and where they stand. No elements here.
import type { GraphLayout } from "../document.ts";

export interface GraphNode {
  kind: string; // "Conv"
  name: string;
  value: string; // "3.41 %"
  step: number; // of its colour; -1: it has no value
  part: number; // of the largest value: how long its strip is
  ringed: boolean;
  said: [string, string][]; // what else is reported about it
}

export interface Graph {
  label: string;
  layout: GraphLayout;
  from: number[];
  to: number[];
  nodes: GraphNode[]; // by the layout's index
  first: number; // node that the view begins at
  what: string; // colours are of
  steps: string[]; // from which value on each colour is
}

// In pixels at zoom 1.
export const [nodeWidth, nodeHeight, layerHeight] = [168, 44, 74];
const most = 3; // zoom

export interface View {
  zoom: number;
  x: number; // the middle, in pixels at zoom 1
  y: number;
}

// What is drawn for a width and height: who is a node's neighbour, where everything is.
export class Places {
  readonly width: number;
  readonly height: number;
  readonly layers: number[][]; // nodes, from the left
  readonly makers: number[][];
  readonly readers: number[][];
  private readonly bends = new Map<number, number[]>();

  constructor(readonly graph: Graph) {
    const { layout, from, to, nodes } = graph;
    const lists = (): number[][] => nodes.map(() => []);
    [this.width, this.height] = [layout.width * nodeWidth, (layout.layers - 1) * layerHeight + nodeHeight];
    [this.makers, this.readers] = [lists(), lists()];
    from.forEach((maker, at) => {
      const reader = to[at] ?? -1;
      if (maker >= nodes.length || reader >= nodes.length) return;
      this.readers[maker]?.push(reader);
      this.makers[reader]?.push(maker);
    });
    this.layers = Array.from({ length: layout.layers }, () => []);
    nodes.forEach((_, node) => this.layers[this.layerOf(node)]?.push(node));
    for (const layer of this.layers) layer.sort((a, b) => this.x(a) - this.x(b));
    for (const { node, x } of layout.bends) this.bends.set(node, x);
  }

  layerOf(node: number): number {
    return this.graph.layout.layer[node] ?? 0;
  }

  x(node: number): number {
    return (this.graph.layout.x[node] ?? 0) * nodeWidth;
  }

  y(node: number): number {
    return this.layerOf(node) * layerHeight + nodeHeight / 2;
  }

  at(x: number, y: number): number | null {
    const layer = this.layers[Math.floor(y / layerHeight)] ?? [];
    return y % layerHeight > nodeHeight ? null : (layer.find((node) => Math.abs(this.x(node) - x) <= nodeWidth / 2) ?? null);
  }

  // Who is reached by an arrow: who reads it or makes what it reads, else who stands nearest in the next layer that way.
  next(node: number, right: number, down: number): number {
    const at = this.layerOf(node);
    const row = this.layers[at] ?? [];
    if (right !== 0) return row[row.indexOf(node) + right] ?? node;
    const linked = (down > 0 ? this.readers : this.makers)[node] ?? [];
    const nearest = (among: number[]): number | undefined => [...among].sort((a, b) => Math.abs(this.x(a) - this.x(node)) - Math.abs(this.x(b) - this.x(node)))[0];
    const near = linked.filter((other) => this.layerOf(other) === at + down);
    for (let layer = at + down; near.length + linked.length === 0 && layer >= 0 && layer < this.layers.length; layer += down) near.push(...(this.layers[layer] ?? []));
    return nearest(near) ?? nearest(linked) ?? node;
  }

  // The way of an edge, as the commands of a path; `toScreen`: of a point. From afar its ends and its outermost bends do.
  way(from: number, to: number, zoom: number, toScreen: (x: number, y: number) => [number, number]): string {
    const [first, last] = [this.layerOf(from), this.layerOf(to)];
    const half = nodeHeight / 2;
    const text = (x: number, y: number): string => {
      const [left, top] = toScreen(x, y);
      return `${Math.round(left * 10) / 10} ${Math.round(top * 10) / 10}`;
    };
    const isFar = layerHeight * zoom < 12;
    let [x, y] = [this.x(from), this.y(from) + (last > first ? half : -half)];
    let d = `M${text(x, y)}`;
    const curve = (toX: number, toY: number): void => {
      const middle = (y + toY) / 2;
      d += isFar || Math.abs(toX - x) * zoom < 1 ? `L${text(toX, toY)}` : `C${text(x, middle)} ${text(toX, middle)} ${text(toX, toY)}`;
      [x, y] = [toX, toY];
    };
    const bends = this.bends.get(from) ?? [];
    const count = Math.min(bends.length, Math.max(0, last - first - 1));
    for (let at = 0; at < count; at += isFar ? Math.max(1, count - 1) : 1) {
      const middle = (first + 1 + at) * layerHeight + half;
      curve((bends[at] ?? 0) * nodeWidth, middle - half);
      if (!isFar) curve((bends[at] ?? 0) * nodeWidth, middle + half);
    }
    curve(this.x(to), this.y(to) - (last > first ? half : -half));
    return d;
  }

  // --- what is in view ---

  smallest(width: number, height: number): number {
    return Math.min(1, width / this.width, height / this.height);
  }

  // All of it where it can be read then, else where the view begins.
  atFirst(width: number, height: number): View {
    const all = this.smallest(width, height);
    if (all >= 0.45) return { zoom: all, x: this.width / 2, y: this.height / 2 };
    return this.inside({ zoom: Math.min(0.8, Math.max(0.6, width / this.width)), x: this.x(this.graph.first), y: this.y(this.graph.first) }, width, height);
  }

  // No further out than all of it, and never beyond its ends.
  inside({ zoom, x, y }: View, width: number, height: number): View {
    const within = Math.min(most, Math.max(zoom, this.smallest(width, height)));
    const kept = (at: number, size: number, shown: number): number => (size <= shown ? size / 2 : Math.min(size - shown / 2, Math.max(shown / 2, at)));
    return { zoom: within, x: kept(x, this.width, width / within), y: kept(y, this.height, height / within) };
  }
}
