// The frames of sampled call stacks: of one subject, and of two against each other. A function's own time is the part of
// its frame that has nothing beneath it.
import type { OperatorGroupDifference, OperatorTable, StackDifference, StackFunctionName, StackNode, StackDifferenceNode, StackProfile } from "../document.ts";
import { format, interval, percent, unitFor } from "../format.ts";
import type { Frame, Mode } from "./frames.ts";
import { kindName } from "./profile_frames.ts";

export const outsideName = "(outside operators)";
export const notSampledName = "(not sampled)";

const methodNames = new Map([["py_spy", "py-spy"], ["cprofile", "cProfile"]]);
export const methodName = (method: string): string => methodNames.get(method) ?? method;
export const stacksName = (stacks: Pick<StackProfile, "method" | "is_python">): string => `${stacks.is_python ? "Python" : "Call"} stacks (${methodName(stacks.method)})`;

// "gemm", "[libonnxruntime.so+0x1234]", "[libonnxruntime.so]", "[unknown]"
export function functionName(each: StackFunctionName | undefined): string {
  if (each === undefined) return "[unknown]";
  if (each.symbol !== "") return each.symbol;
  return each.module === "" ? "[unknown]" : `[${each.module}${each.offset === "" ? "" : `+${each.offset}`}]`;
}

type Node = StackNode | StackDifferenceNode;

// Indices of each node's children. What is not a tree of nodes that come before each other is left out.
function childrenOf(tree: readonly Node[]): number[][] {
  const children = tree.map((): number[] => []);
  tree.forEach(({ parent }, index) => {
    if (parent !== null && parent < index) children[parent]?.push(index);
  });
  return children;
}

// Widest first; what is merged and what was not sampled come last, as elsewhere.
const isLast = (frame: Frame): boolean => frame.level === restLevel || frame.level === mergedLevel;
export const restLevel = "rest";
export const mergedLevel = "small frames";

// A frame of values that its children need not make up: what they leave is its own.
function enclosing(from: Omit<Frame, "widths">): Frame {
  const sum = (what: (child: Frame) => number): number => from.children.reduce((all, child) => all + what(child), 0);
  const own = (mode: "a" | "b"): number => Math.max(0, from.values[mode] - sum((child) => child.values[mode]));
  const widths = { a: own("a") + sum((child) => child.widths.a), b: own("b") + sum((child) => child.widths.b), difference: Math.max(own("a"), own("b")) + sum((child) => child.widths.difference) };
  const ordered = [...from.children].sort((x, y) => Number(isLast(x)) - Number(isLast(y)) || y.widths.difference - x.widths.difference);
  return { ...from, widths, children: ordered };
}

// Colours by module, so that the libraries stand apart; operators and what is not a function are grey.
class Modules {
  private readonly numbers = new Map<string, number>();
  of(module: string): number {
    if (module === "") return -1;
    const number = this.numbers.get(module) ?? this.numbers.size;
    this.numbers.set(module, number);
    return number;
  }
}

interface Naming {
  functions: readonly StackFunctionName[];
  whole(mode: Mode): string;
  operator(node: Node): string;
}

function nameOf(node: Node, naming: Naming, mode: Mode): string {
  switch (node.level) {
    case "whole":
      return naming.whole(mode);
    case "other_threads":
      return `other threads of ${naming.whole(mode)}`;
    case "kind":
      return (node.kind ?? "") === "" ? outsideName : kindName(node.kind ?? "");
    case "operator":
      return naming.operator(node);
    case "rest":
      return notSampledName;
    case "merged":
      return `(${node.merged ?? 0} small)`;
    default:
      return functionName(naming.functions[node.function ?? -1]);
  }
}

const levels: Record<Node["level"], string> = { whole: "model", other_threads: "threads", kind: "kind", operator: "operator", frame: "function", rest: restLevel, merged: mergedLevel };

function frameOf<T extends Node>(tree: readonly T[], index: number, naming: Naming, values: (node: T) => Frame["values"], about: (node: T) => [string, string][]): Frame {
  const [children, modules] = [childrenOf(tree), new Modules()];
  naming.functions.forEach(({ module }) => modules.of(module)); // the hottest first
  const make = (at: number): Frame => {
    const node = tree[at] as T;
    const own = node.function === undefined ? undefined : naming.functions[node.function];
    const difference = "separable" in node;
    return enclosing({
      key: String(at),
      level: levels[node.level] ?? "frame",
      name: (mode) => nameOf(node, naming, mode),
      values: values(node),
      color: node.level === "whole" || node.level === "other_threads" ? -2 : own === undefined ? -1 : modules.of(own.module),
      words: node.level === "whole" || node.level === "other_threads" || node.level === "merged" ? "" : [nameOf(node, naming, "difference"), own?.module ?? ""].join("\n"),
      interval: node.low_s === null || node.high_s === null ? null : { low: node.low_s, high: node.high_s },
      separable: difference ? (node as StackDifferenceNode).separable : true,
      about: () => [...(own === undefined || own.module === "" ? [] : ([["in", own.module]] as [string, string][])), ...about(node)],
      children: (children[at] ?? []).map(make),
      ...("group" in node && node.group !== undefined ? { group: node.group } : {}),
      ...(node.function === undefined ? {} : { function: node.function }),
    });
  };
  return make(index);
}

// The tree's roots: the whole, and other threads where there are any.
export const rootOf = (tree: readonly Node[], level: "whole" | "other_threads"): number => tree.findIndex((node) => node.level === level && node.parent === null);

export function stackFrames(stacks: StackProfile, table: OperatorTable | null, label: string, threads: "whole" | "other_threads"): Frame {
  const operators = new Map((table?.operators ?? []).map((operator) => [operator.op, operator.name]));
  const naming: Naming = { functions: stacks.functions, whole: () => label, operator: (node) => operators.get((node as StackNode).op ?? -1) ?? "(operator)" };
  const about = (node: StackNode): [string, string][] => {
    const unit = unitFor("s", node.mean_s);
    return stacks.distorted
      ? [["own", percent(node.self_s / stacks.wall_s)]]
      : [
          ...(node.low_s === null || node.high_s === null ? [] : ([["interval", `${interval(node.low_s, node.high_s, unit)} ${unit.name}`]] as [string, string][])),
          ...(node.level === "rest" ? ([["", "waiting, in the kernel, or where the method does not see"]] as [string, string][]) : ([["own", format("s", node.self_s)]] as [string, string][])),
        ];
  };
  return frameOf(stacks.tree, Math.max(0, rootOf(stacks.tree, threads)), naming, ({ mean_s }) => ({ a: mean_s, b: 0, difference: mean_s }), about);
}

export interface DifferenceNames {
  baseline: string;
  subject: string;
  group(index: number): string;
}

export function stackDifferenceFrames(stacks: StackDifference, names: DifferenceNames, groups: readonly OperatorGroupDifference[], threads: "whole" | "other_threads"): Frame {
  const naming: Naming = {
    functions: stacks.functions,
    whole: (mode) => (mode === "a" ? names.baseline : mode === "b" ? names.subject : `${names.subject} against ${names.baseline}`),
    operator: (node) => {
      const index = (node as StackDifferenceNode).group ?? -1;
      return groups[index] === undefined ? "(group)" : names.group(index);
    },
  };
  const about = (node: StackDifferenceNode): [string, string][] => [
    ["baseline", format("s", node.baseline_s)],
    ["subject", format("s", node.subject_s)],
    ["", node.separable ? "" : "not separable"],
    ["", node.subject_s === 0 ? "only in the baseline" : node.baseline_s === 0 ? "only in the subject" : ""],
  ];
  return frameOf(stacks.tree, Math.max(0, rootOf(stacks.tree, threads)), naming, (node) => ({ a: node.baseline_s, b: node.subject_s, difference: node.mean_s }), about);
}
