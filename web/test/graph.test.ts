// Scales and ways of graphs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Places } from "../src/graph/graph.ts";
import type { GraphNode } from "../src/graph/graph.ts";
import { stepsBelow } from "../src/pictures/graph.ts";

test("steps are 1, 2, 5 below the largest value", () => {
  assert.deepEqual(stepsBelow(0.67), [0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]);
  assert.deepEqual(stepsBelow(0.02), [0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02]);
  assert.deepEqual(stepsBelow(1), [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]);
  assert.deepEqual(stepsBelow(0.00031).at(-1), 0.0002);
});

// 0 -> 1 -> 2, 0 -> 2, and 3 by itself in a row beneath.
const node: GraphNode = { kind: "Conv", name: "", value: "", step: 0, part: 0, ringed: false, said: [] };
const places = new Places({
  label: "", nodes: [node, node, node, node], from: [0, 1, 0, 9], to: [1, 2, 2, 1], first: 0, what: "", steps: [],
  layout: { subject: 0, layers: 5, width: 2, layer: [0, 1, 2, 4], x: [0.5, 0.5, 0.5, 1.5], bends: [{ node: 0, x: [1.2] }], apart: 1, straight: 0, left_out: 0 },
});

test("arrows follow edges, and continue where there is none", () => {
  assert.equal(places.next(0, 0, 1), 1);
  assert.equal(places.next(2, 0, -1), 1);
  assert.equal(places.next(2, 0, 1), 3);
  assert.equal(places.next(3, 0, -1), 2);
  assert.equal(places.next(0, 0, -1), 0);
  assert.equal(places.next(0, 1, 0), 0);
});

test("an edge goes through the bends above its reader, one of a node that is not there is none", () => {
  const asIs = (x: number, y: number): [number, number] => [x, y];
  assert.equal(places.way(0, 1, 1, asIs), "M84 44L84 74");
  assert.match(places.way(0, 2, 1, asIs), /^M84 44C[^L]+201\.6 74L201\.6 118C.+84 148$/);
  assert.deepEqual(places.makers[1], [0]);
});

test("a view never leaves the graph, and shows all of it at most", () => {
  const all = places.inside({ zoom: 0, x: -5, y: 1e9 }, 1000, 170);
  assert.deepEqual(all, { zoom: 0.5, x: 168, y: 170 });
  assert.equal(places.inside({ zoom: 1, x: 0, y: 0 }, 100, 100).x, 50);
  assert.equal(places.at(84, 20), 0);
  assert.equal(places.at(84, 60), null);
});
