// Frames: their widths, sums, what is drawn of them, and what a search finds.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OperatorGroupDifference, OperatorTable, ProfileExplanation, ProfiledOperator } from "../src/document.ts";
import { differenceText } from "../src/flame/boxes.ts";
import { differenceFrames, groupName } from "../src/flame/difference_frames.ts";
import { found, inWords, leaf, mostDrawn, parent, searchFor, smallLevel, viewOf } from "../src/flame/frames.ts";
import type { Frame, Search } from "../src/flame/frames.ts";
import { profileFrames } from "../src/flame/profile_frames.ts";
import { mixed } from "../src/flame/scene.ts";
import { eventsOf } from "../src/pictures/operator_timeline.ts";
import { operatorBars } from "../src/pictures/operators.ts";

const operator = (op: number, kind: string, mean_s: number, more: Partial<ProfiledOperator> = {}): ProfiledOperator =>
  ({ op, name: `${kind} ${op}`, kind, kernel: "", precision: "", layout: "", shapes: "", nodes: [], mean_s, low_s: null, high_s: null, share: mean_s, calls: 1, roofline: null, moved_bytes: null, ...more }) as unknown as ProfiledOperator;
const tableOf = (operators: ProfiledOperator[], rest_s: number): OperatorTable =>
  ({ operators, rest: { mean_s: rest_s, low_s: null, high_s: null, share: rest_s }, wall_s: operators.reduce((sum, each) => sum + each.mean_s, rest_s), distorted: false }) as unknown as OperatorTable;
const group = (kind: string, baseline_s: number, subject_s: number, more: Partial<OperatorGroupDifference> = {}): OperatorGroupDifference =>
  ({ kind, nodes: [`${kind} node`], in_baseline: [0], in_subject: [0], is_helper: false, baseline_s, subject_s, mean_s: subject_s - baseline_s, low_s: -1, high_s: 1, p: 0.5, separable: false, ...more });
const explanation = (groups: OperatorGroupDifference[]): ProfileExplanation => ({ groups, low_s: 1, high_s: 3, difference_s: groups.reduce((sum, each) => sum + each.mean_s, 0) }) as unknown as ProfileExplanation;
const side = (label: string): { label: string; table: null } => ({ label, table: null });
const children = (frame: Frame): string[] => frame.children.map((child) => child.name("difference"));

test("a profile's frames add up to the wall time, widest first, the rest last", () => {
  const root = profileFrames(tableOf([operator(0, "Add", 1), operator(1, "Conv", 2), operator(2, "Conv", 3)], 10), "m");
  assert.equal(root.values.a, 16);
  assert.deepEqual(children(root), ["Conv", "Add", "(rest)"]);
  assert.deepEqual(children(root.children[0] as Frame), ["Conv 2", "Conv 1"]);
});

test("a negative rest has no width and keeps its value", () => {
  const root = profileFrames(tableOf([operator(0, "Add", 5)], -1), "m");
  assert.equal(root.values.a, 4);
  assert.equal(root.widths.a, 5);
  assert.deepEqual(viewOf(root, [], "a").placed.map(({ frame }) => frame.name("a")), ["m", "Add", "Add 0"]);
});

test("a frame of a difference is as wide as its larger side, and a parent as its children", () => {
  const root = differenceFrames(explanation([group("Conv", 5, 2), group("Conv", 1, 4), group("Gone", 3, 0), group("New", 0, 2)]), side("A"), side("B"));
  const conv = root.children.find((child) => child.name("a") === "Conv") as Frame;
  assert.equal(conv.widths.difference, 9, "not the larger of the sums, which is 6");
  assert.equal(conv.values.difference, 0);
  assert.equal(root.values.difference, -1);
  const drawn = (mode: "a" | "b" | "difference"): string[] => viewOf(root, [], mode).placed.filter(({ depth }) => depth === 1).map(({ frame }) => frame.name(mode));
  assert.deepEqual(drawn("difference"), ["Conv", "Gone", "New"], "what one side lacks stays in sight");
  assert.deepEqual(drawn("a"), ["Conv", "Gone"]);
  assert.deepEqual(drawn("b"), ["Conv", "New"]);
});

test("A and B share a scale where they are told to", () => {
  const root = differenceFrames(explanation([group("Conv", 2, 8)]), side("A"), side("B"));
  assert.equal(viewOf(root, [], "a", 8).placed[0]?.width, 0.25);
  assert.equal(viewOf(root, [], "a").placed[0]?.width, 1);
});

test("a kind is separable where one of its groups is", () => {
  const root = differenceFrames(explanation([group("Conv", 1, 2), group("Conv", 1, 3, { separable: true }), group("Add", 1, 2)]), side("A"), side("B"));
  assert.deepEqual(root.children.map((child) => [child.name("a"), child.separable]), [["Conv", true], ["Add", false]]);
  assert.ok(root.separable, "the whole has an interval of its own: 1 to 3");
});

test("kernels that differ are reported as a change", () => {
  const table = (kernel: string): OperatorTable => tableOf([operator(0, "Conv", 1, { kernel })], 0);
  const frame = (a: string, b: string): Frame | undefined => differenceFrames(explanation([group("Conv", 1, 2)]), { label: "A", table: table(a) }, { label: "B", table: table(b) }).children[0]?.children[0]?.children[0];
  assert.equal(frame("x", "y")?.name("difference"), "x → y");
  assert.equal(frame("x", "y")?.name("b"), "y");
  assert.equal(frame("x", "x")?.name("difference"), "x");
  assert.equal(frame("", "y")?.name("difference"), "not reported → y");
  assert.equal(frame("", ""), undefined);
});

test("groups are named by nodes, helpers by their operators", () => {
  const none = [new Map(), new Map()] as [Map<number, ProfiledOperator>, Map<number, ProfiledOperator>];
  assert.equal(groupName(group("Conv", 1, 1, { nodes: ["a", "b", "c"] }), none), "a and 2 more");
  assert.equal(groupName(group("(rest)", 1, 1, { nodes: [], in_baseline: [], in_subject: [] }), none), "(rest)");
  const own = new Map([[0, operator(0, "Reorder", 1)]]);
  assert.equal(groupName(group("Reorder", 1, 1, { nodes: [], in_subject: [], is_helper: true }), [own, new Map()]), "Reorder 0");
});

const many = (count: number, seconds: (index: number) => number): Frame => profileFrames(tableOf(Array.from({ length: count }, (_, i) => operator(i, `k${i % 3}`, seconds(i))), 0), "m");
const inSight = (frame: Frame): number => (frame.level === smallLevel ? frame.children.reduce((sum, child) => sum + inSight(child), 0) : frame.level === "operator" ? 1 : 0);

test("frames below a thousandth are merged, and nothing is lost", () => {
  const root = many(3000, () => 1);
  const view = viewOf(root, [], "a");
  assert.deepEqual(view.placed.map(({ frame }) => frame.name("a")), ["m", "k0", "(1000 small)", "k1", "(1000 small)", "k2", "(1000 small)"]);
  assert.equal(view.placed.reduce((sum, { frame }) => sum + inSight(frame), 0), 3000);
  // Just above and just below the threshold.
  const few = many(6, (i) => (i < 3 ? 1000 : i === 3 ? 3.1 : 2.9));
  assert.equal(viewOf(few, [], "a").placed.filter(({ frame }) => frame.name("a") === "k0 3").length, 1);
});

test("one small frame alone stays itself", () => {
  const view = viewOf(many(4, (i) => (i < 3 ? 1000 : 1)), [], "a");
  assert.ok(view.placed.some(({ frame }) => frame.name("a") === "k0 3"));
  assert.ok(!view.placed.some(({ frame }) => frame.level === smallLevel));
});

test("zooming tells small ones apart, again and again", () => {
  const root = many(3000, () => 1);
  let path = ["0"];
  let seen = 0;
  for (let step = 0; step < 5; step += 1) {
    const view = viewOf(root, path, "a");
    seen += view.placed.filter(({ frame }) => frame.level === "operator").length;
    const small = view.placed.find(({ frame }) => frame.level === smallLevel && frame !== view.way[view.way.length - 1]);
    if (small === undefined) break;
    path = small.path;
  }
  assert.equal(seen, 1000, "all operators of the kind come up, once each");
});

test("never more frames than can be drawn", () => {
  const frames = Array.from({ length: 900 }, (_, kind) => parent({ key: String(kind), level: "kind", name: () => "k", color: 0, words: "", children: Array.from({ length: 9 }, (_each, i) => leaf({ key: String(i), level: "operator", name: () => "o", values: { a: 1, b: 0, difference: 1 }, color: 0, words: "" })) }));
  const view = viewOf(parent({ key: "", level: "model", name: () => "m", color: 0, words: "", children: frames }), [], "a");
  assert.ok(view.placed.length <= mostDrawn && view.placed.length > 100, String(view.placed.length));
});

test("children lie within their parents, side by side", () => {
  const view = viewOf(many(40, (i) => 1 + i), ["1"], "a");
  let end = 0;
  for (const { left, width, depth } of view.placed.filter((placed) => placed.depth === 2)) {
    assert.ok(Math.abs(left - end) < 1e-9 && depth === 2);
    end = left + width;
  }
  assert.ok(Math.abs(end - 1) < 1e-9);
  assert.ok(view.placed[0]?.above, "what encloses the view is above it");
});

test("a path that leads nowhere leads as far as it can", () => {
  const root = many(6, () => 1);
  assert.equal(viewOf(root, ["1", "9999"], "a").way.length, 2);
  assert.equal(viewOf(root, ["__proto__"], "a").way.length, 1);
});

test("what is found is added up once, however many frames of a branch match", () => {
  const root = profileFrames(tableOf([operator(0, "Conv", 1, { kernel: "conv" }), operator(1, "Conv", 2), operator(2, "Add", 4, { nodes: ["conv_add"] })], 8), "m");
  const search = (text: string, regular = false): ReturnType<typeof found> => found(root, inWords(searchFor(text, regular) as Search));
  assert.deepEqual([search("CONV").values.a, search("CONV").count], [7, 2]);
  assert.equal(search("^conv 1$", true).values.a, 2);
  assert.equal(search("^conv 1$").values.a, 0);
  assert.equal(typeof searchFor("(", true), "string");
  assert.equal(searchFor("", true), null);
});

test("a difference is reported with its interval, in one unit", () => {
  assert.equal(differenceText(0.0021, { low: 0.0018, high: 0.0024 }), "+2.10 ms [+1.80, +2.40]");
  assert.equal(differenceText(-0.0021, null), "−2.10 ms");
});

test("bars of kinds are sums, and the rest is always there", () => {
  const bars = operatorBars(tableOf([operator(0, "Add", 1), operator(1, "Conv", 2), operator(2, "Conv", 3)], 10), "kind");
  assert.deepEqual(bars.map(({ name, value }) => [name, value]), [["Conv", 5], ["Add", 1], ["(rest)", 10]]);
});

test("a call within another lies one level beneath it, in its own thread", () => {
  const events = eventsOf({ process: 0, iteration: 0, wall_s: 10, op: [0, 1, 2, 3, 4], thread: [0, 0, 0, 0, 1], begin_s: [0, 1, 2, 5, 1], duration_s: [5, 3, 1, 1, 1] });
  assert.deepEqual(events.map(({ op, level }) => [op, level]), [[0, 0], [1, 1], [2, 2], [3, 0], [4, 0]]);
});

test("colours mix channel by channel", () => {
  assert.equal(mixed("#000000", "#ff8040", 0.5), "#804020");
});
