// One function of sampled stacks: who calls it, and what it calls, each as a tree with the function as its root.
import type { OperatorTable, StackNode, StackProfile } from "../document.ts";
import type { Frame } from "./frames.ts";
import { functionName, stackFrames } from "./stack_frames.ts";

export interface Sandwich {
  callers: Frame;
  callees: Frame;
}

// A frame while it is added up.
interface Sum {
  like: Frame | null;
  seconds: number;
  children: Map<string, Sum>;
}

const newSum = (like: Frame | null): Sum => ({ like, seconds: 0, children: new Map() });

// What is the same in another place: a function by its number, an operator by its name.
const identity = (frame: Frame): string => (frame.function === undefined ? `${frame.level}\n${frame.name("a")}` : `function ${frame.function}`);

function inside(sum: Sum, frame: Frame, seconds: number): Sum {
  const key = identity(frame);
  const found = sum.children.get(key) ?? newSum(frame);
  sum.children.set(key, found);
  found.seconds += seconds;
  return found;
}

function addCallees(sum: Sum, frame: Frame): void {
  for (const child of frame.children) addCallees(inside(sum, child, child.values.a), child);
}

function addCallers(sum: Sum, way: readonly Frame[], seconds: number): void {
  let at = sum;
  for (const frame of [...way].reverse()) at = inside(at, frame, seconds);
}

function frameOf(sum: Sum, key: string, name: string): Frame {
  const children = [...sum.children.values()].map((child, index) => frameOf(child, String(index), child.like?.name("a") ?? "")).sort((x, y) => y.widths.a - x.widths.a);
  const values = { a: sum.seconds, b: 0, difference: sum.seconds };
  const base = sum.like;
  return {
    key,
    level: base?.level ?? "function",
    name: () => name,
    values,
    widths: values,
    interval: null,
    separable: true,
    color: base?.color ?? 0,
    about: () => (base === null ? [] : base.about().filter(([title]) => title === "in")),
    words: base?.words ?? name,
    children,
    ...(base?.function === undefined ? {} : { function: base.function }),
  };
}

// Of recursion the outermost call counts, so that no time counts twice.
export function sandwichFrames(stacks: StackProfile, table: OperatorTable | null, label: string, of: number): Sandwich {
  const has = (level: StackNode["level"]): boolean => stacks.tree.some((node) => node.level === level);
  const [callers, callees] = [newSum(null), newSum(null)];
  const look = (frame: Frame, way: readonly Frame[]): void => {
    if (frame.function !== of) {
      for (const child of frame.children) look(child, [...way, frame]);
      return;
    }
    for (const sum of [callers, callees]) {
      sum.seconds += frame.values.a;
      sum.like ??= frame;
    }
    addCallers(callers, way, frame.values.a);
    addCallees(callees, frame);
  };
  look(stackFrames(stacks, table, label, "whole"), []);
  // What runs on other threads alone is still to be seen.
  if (callers.like === null && has("other_threads")) look(stackFrames(stacks, table, label, "other_threads"), []);
  const name = functionName(stacks.functions[of]);
  return { callers: frameOf(callers, "", name), callees: frameOf(callees, "", name) };
}
