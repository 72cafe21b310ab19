// Frames of sampled call stacks: widths, names, and one function between its callers and its callees.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StackDifference, StackDifferenceNode, StackFunctionName, StackNode, StackProfile } from "../src/document.ts";
import { viewOf } from "../src/flame/frames.ts";
import type { Frame } from "../src/flame/frames.ts";
import { sandwichFrames } from "../src/flame/sandwich_frames.ts";
import { functionName, methodName, stackDifferenceFrames, stackFrames } from "../src/flame/stack_frames.ts";

const functions: StackFunctionName[] = [
  { symbol: "main", module: "program", offset: "" },
  { symbol: "gemm", module: "libm.so", offset: "" },
  { symbol: "", module: "libm.so", offset: "0x10" },
  { symbol: "", module: "", offset: "" },
];
const node = (parent: number | null, level: StackNode["level"], mean_s: number, self_s: number, more: Partial<StackNode> = {}): StackNode => ({ parent, level, mean_s, self_s, low_s: null, high_s: null, ...more });
const stacksOf = (tree: StackNode[]): StackProfile => ({ functions, tree, wall_s: tree[0]?.mean_s ?? 0, distorted: false }) as unknown as StackProfile;
const frame = (parent: number, of: number, mean_s: number, self_s: number): StackNode => node(parent, "frame", mean_s, self_s, { function: of });
const names = (of: Frame): string[] => of.children.map((child) => child.name("a"));

// main 6 (own 1) calls gemm 5, which calls itself (own 2) and an address (3); not sampled: 4.
const simple = stacksOf([node(null, "whole", 10, 0), node(0, "kind", 6, 0, { kind: "" }), frame(1, 0, 6, 1), frame(2, 1, 5, 0), frame(3, 1, 2, 2), frame(3, 2, 3, 3), node(0, "rest", 4, 4)]);

test("functions are called by their symbol, else by where they are", () => {
  assert.deepEqual(functions.map(functionName), ["main", "gemm", "[libm.so+0x10]", "[unknown]"]);
  assert.equal(functionName(undefined), "[unknown]");
  assert.equal(methodName("py_spy"), "py-spy");
  assert.equal(methodName("__proto__"), "__proto__");
});

test("a frame is as wide as its time, its own part having nothing beneath it", () => {
  const root = stackFrames(simple, null, "fast", "whole");
  assert.equal(root.widths.a, 10);
  assert.deepEqual(names(root), ["(outside operators)", "(not sampled)"]);
  const main = root.children[0]?.children[0] as Frame;
  assert.deepEqual([main.name("a"), main.widths.a, main.children[0]?.widths.a], ["main", 6, 5]);
  assert.deepEqual(names(main.children[0] as Frame), ["[libm.so+0x10]", "gemm"]);
});

test("what was sampled beyond the wall time keeps its value and takes no width from others", () => {
  const root = stackFrames(stacksOf([node(null, "whole", 10, 0), frame(0, 0, 11, 11), node(0, "rest", -1, -1)]), null, "m", "whole");
  assert.equal(root.values.a, 10);
  assert.equal(root.widths.a, 11);
  assert.deepEqual(viewOf(root, [], "a").placed.map(({ frame: each }) => each.name("a")), ["m", "main"]);
});

test("other threads are a tree of their own, and nodes of no tree are left out", () => {
  const tree = [...simple.tree, node(null, "other_threads", 7, 0), frame(7, 1, 7, 7), frame(99, 1, 50, 50)];
  assert.equal(stackFrames(stacksOf(tree), null, "m", "other_threads").widths.a, 7);
  assert.equal(stackFrames(stacksOf(tree), null, "m", "whole").widths.a, 10);
});

test("of recursion the outermost call counts", () => {
  const { callers, callees } = sandwichFrames(simple, null, "fast", 1);
  assert.equal(callees.values.a, 5);
  assert.deepEqual(callees.children.map((child) => [child.name("a"), child.values.a]), [["[libm.so+0x10]", 3], ["gemm", 2]]);
  assert.deepEqual(names(callers), ["main"]);
  assert.deepEqual(names(callers.children[0] as Frame), ["(outside operators)"]);
  assert.equal(callers.children[0]?.values.a, 5);
});

test("calls from several places add up", () => {
  const { callers, callees } = sandwichFrames(stacksOf([node(null, "whole", 9, 0), frame(0, 0, 4, 0), frame(1, 1, 4, 4), frame(0, 2, 5, 0), frame(3, 1, 5, 3), frame(4, 3, 2, 2)]), null, "m", 1);
  assert.equal(callers.values.a, 9);
  assert.deepEqual(callers.children.map((child) => [child.name("a"), child.values.a]), [["[libm.so+0x10]", 5], ["main", 4]]);
  assert.deepEqual(callees.children.map((child) => child.values.a), [2]);
});

test("a function of other threads alone is found there", () => {
  const tree = [node(null, "whole", 3, 3), node(null, "other_threads", 7, 0), frame(1, 1, 7, 7)];
  assert.equal(sandwichFrames(stacksOf(tree), null, "m", 1).callees.values.a, 7);
});

test("a frame of a difference holds both sides' children, however their times lie", () => {
  const pair = (parent: number | null, level: StackNode["level"], baseline_s: number, subject_s: number, more: Partial<StackDifferenceNode> = {}): StackDifferenceNode => ({ parent, level, baseline_s, subject_s, mean_s: subject_s - baseline_s, low_s: null, high_s: null, separable: true, ...more });
  const tree = [pair(null, "whole", 10, 10), pair(0, "frame", 10, 0, { function: 0 }), pair(0, "frame", 0, 10, { function: 1 }), pair(2, "operator", 0, 4, { group: 2 })];
  const root = stackDifferenceFrames({ functions, tree } as unknown as StackDifference, { baseline: "A", subject: "B", group: (index) => `group ${index}` }, [], "whole");
  assert.equal(root.values.difference, 0);
  assert.equal(root.widths.difference, 20);
  assert.deepEqual([root.widths.a, root.widths.b], [10, 10]);
  assert.deepEqual(root.children.map((child) => child.values.difference), [-10, 10]);
  assert.deepEqual([root.name("a"), root.name("b"), root.name("difference")], ["A", "B", "B against A"]);
  assert.equal(root.children[1]?.children[0]?.group, 2);
  assert.equal(root.children[1]?.children[0]?.name("a"), "(group)"); // a group that the explanation does not have
});
