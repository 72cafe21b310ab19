// Frames of a flame graph as values: a tree in which a parent is as wide as its children together, what of it is drawn,
// and what a search finds. Frames too small to be seen are drawn as one. No elements here.

// `a` and `b`: one of two sides; `difference`: both, a frame being as wide as its larger side, so that what one side
// lacks stays in sight. A profile of one subject has side a only.
export type Mode = "a" | "b" | "difference";

export interface Frame {
  key: string; // among its siblings
  level: string; // what it is: "kind", "operator"
  name(mode: Mode): string; // text from outside
  widths: Record<Mode, number>; // seconds, never below 0
  values: Record<Mode, number>; // seconds, as the document has them
  interval: { low: number; high: number } | null; // of the difference
  separable: boolean; // the difference is distinguished from noise
  color: number; // frames of one kind have one
  about(): [string, string][]; // what else there is to say
  words: string; // that a search looks at, as far as mostWords
  children: Frame[];
  group?: number; // of an explanation: what its clauses name
  function?: number; // of call stacks
}

export interface Leaf extends Omit<Frame, "widths" | "children" | "about" | "interval" | "separable"> {
  about?: () => [string, string][];
  interval?: Frame["interval"];
  separable?: boolean;
  children?: Frame[]; // of the same time: its kernel
}

export function leaf(from: Leaf): Frame {
  const [a, b] = [Math.max(0, from.values.a), Math.max(0, from.values.b)];
  return { about: () => [], interval: null, separable: true, children: [], ...from, widths: { a, b, difference: Math.max(a, b) } };
}

// Its times are its children's, added up; widest child first.
export function parent(from: Omit<Leaf, "values">): Frame {
  const children = [...(from.children ?? [])].sort((x, y) => y.widths.difference - x.widths.difference);
  return { about: () => [], interval: null, separable: children.some((child) => child.separable), ...from, widths: added(children, "widths"), values: added(children, "values"), children };
}

function added(frames: Frame[], what: "widths" | "values"): Record<Mode, number> {
  const sum = { a: 0, b: 0, difference: 0 };
  for (const frame of frames) for (const mode of ["a", "b", "difference"] as const) sum[mode] += frame[what][mode];
  return sum;
}

export const smallLevel = "small ones";
const smallKey = "small";
const mostWords = 4000; // characters
const least = 0.001; // of the view: narrower frames are merged
const alwaysShown = 500; // children of the view's root, however narrow
export const mostDrawn = 3000;

function merged(members: Frame[]): Frame {
  const [first] = members;
  return parent({ key: smallKey, level: smallLevel, name: () => `(${members.length} small)`, color: first?.color ?? 0, words: "", children: members });
}

// Those that are drawn, the last standing for all that are too small.
function shownChildren(frame: Frame, mode: Mode, floor: number, always: number): Frame[] {
  const there = frame.children.filter((child) => child.widths[mode] > 0);
  const wide = there.filter((child, index) => index < always || child.widths[mode] >= floor);
  const small = there.filter((child, index) => index >= always && child.widths[mode] < floor);
  return small.length > 1 ? [...wide, merged(small)] : [...wide, ...small];
}

export interface Placed {
  frame: Frame;
  path: string[]; // keys from the whole's children on; [] for the whole
  depth: number;
  left: number; // 0 … 1, of the view
  width: number;
  position: number; // among its siblings, from 1
  siblings: number;
  above: boolean; // the view lies within it
}

export interface View {
  way: Frame[]; // from the whole to the view's root
  placed: Placed[]; // parents before children
  rows: number;
}

// The frame that a path leads to, as far as it leads anywhere.
export function wayTo(root: Frame, path: readonly string[], mode: Mode): Frame[] {
  const way = [root];
  for (const key of path) {
    const last = way[way.length - 1] as Frame;
    const found = shownChildren(last, mode, last.widths[mode] * least, alwaysShown).find((child) => child.key === key) ?? last.children.find((child) => child.key === key);
    if (found === undefined || !(found.widths[mode] > 0)) break;
    way.push(found);
  }
  return way;
}

// `whole`: what the full width stands for, where that is more than the root itself.
export function viewOf(root: Frame, path: readonly string[], mode: Mode, whole = 0): View {
  const way = wayTo(root, path, mode);
  const top = way[way.length - 1] as Frame;
  const full = Math.max(top.widths[mode], way.length === 1 ? whole : 0) || 1;
  let floor = top.widths[mode] * least;
  let always = alwaysShown;
  for (;;) {
    const view = placedIn(way, mode, full, floor, always);
    if (view.placed.length <= mostDrawn) return view;
    [floor, always] = [Math.max(floor, Number.MIN_VALUE) * 1.5, Math.ceil(always / 2)];
  }
}

function placedIn(way: Frame[], mode: Mode, full: number, floor: number, always: number): View {
  const placed: Placed[] = [];
  const top = way.length - 1;
  const path: string[] = [];
  let rows = 0;
  const place = (frame: Frame, at: string[], depth: number, left: number, position: number, siblings: number): void => {
    if (placed.length > mostDrawn) return;
    rows = Math.max(rows, depth + 1);
    const isTop = depth === top;
    placed.push({ frame, path: at, depth, left: left / full, width: frame.widths[mode] / full, position, siblings, above: false });
    if (frame.level === smallLevel && !isTop) return;
    let x = left;
    const shown = shownChildren(frame, mode, floor, isTop ? always : 0);
    shown.forEach((child, index) => {
      place(child, [...at, child.key], depth + 1, x, index + 1, shown.length);
      x += child.widths[mode];
    });
  };
  way.slice(0, top).forEach((frame, depth) => {
    if (depth > 0) path.push(frame.key);
    placed.push({ frame, path: [...path], depth, left: 0, width: 1, position: 1, siblings: 1, above: true });
  });
  const last = way[top] as Frame;
  place(last, top > 0 ? [...path, last.key] : [], top, 0, 1, 1);
  return { way, placed, rows };
}

export type Search = (text: string) => boolean;

// null: nothing is searched for; a string: why the expression cannot be read.
export function searchFor(text: string, regular: boolean): Search | string | null {
  if (text === "") return null;
  if (!regular) {
    const wanted = text.toLocaleLowerCase();
    return (words) => words.toLocaleLowerCase().includes(wanted);
  }
  try {
    const expression = new RegExp(text, "i");
    return (words) => expression.test(words);
  } catch {
    return "this is not a regular expression";
  }
}

export type Hit = (frame: Frame) => boolean;
export const inWords = (search: Search): Hit => (frame) => search(frame.words.slice(0, mostWords));

export interface Found {
  frames: Set<Frame>;
  count: number; // of frames that no other of them encloses
  values: Record<Mode, number>; // of those, added up
}

export function found(root: Frame, isHit: Hit): Found {
  const result: Found = { frames: new Set(), count: 0, values: { a: 0, b: 0, difference: 0 } };
  const look = (frame: Frame, counted: boolean): void => {
    const hit = isHit(frame);
    if (hit) result.frames.add(frame);
    if (hit && !counted) {
      result.count += 1;
      for (const mode of ["a", "b", "difference"] as const) result.values[mode] += frame.values[mode];
    }
    for (const child of frame.children) look(child, counted || hit);
  };
  look(root, false);
  return result;
}

// Itself, or any that is drawn within it.
export function isFound(frame: Frame, search: Found): boolean {
  return search.frames.has(frame) || (frame.level === smallLevel && frame.children.some((child) => isFound(child, search)));
}
