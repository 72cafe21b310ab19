// The graph of operators that a runtime executed, coloured by their share of the time; of two models that are compared
// tensor by tensor the reference's, coloured by its error.
import type { GraphLayout, Layers, OperatorTable, Part } from "../document.ts";
import type { Links } from "../flame/links.ts";
import { count, digits, format, interval, MISSING, percent, unitFor } from "../format.ts";
import { GraphView } from "../graph/graph_view.ts";
import type { Graph, GraphNode } from "../graph/graph.ts";
import type { DataTable, DrawnPicture, Picture } from "../picture.ts";
import { nodesText, rules } from "./operator_words.ts";
import { choice, distortedText, operatorData } from "./profiled.ts";
import { measured, sentences } from "./trials.ts";

const keys = "Arrows go from node to node, Enter or a click to its row in the table; Shift and an arrow moves what is in view.";
const errors = [0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];

// 0 and the eight of 1, 2, 5, 10, … that lie next below the largest value.
export function stepsBelow(largest: number): number[] {
  const steps: number[] = [];
  for (let power = Math.ceil(Math.log10(largest)); steps.length < 8; power -= 1) {
    for (const digit of [5, 2, 1]) {
      const step = Number(`${digit}e${power}`);
      if (step <= largest && steps.length < 8) steps.unshift(step);
    }
  }
  return [0, ...steps];
}

const stepOf = (value: number, steps: readonly number[]): number => steps.filter((least) => value >= least).length - 1;

// Of one digit, in four characters.
const shortNumber = (value: number): string => (value !== 0 && value < 0.01 ? value.toExponential() : String(value));

interface Drawn {
  id: string;
  title: string;
  reads: string;
  graphs: Graph[];
  rowOf(graph: number, node: number): { subject: number | null; row: number }; // of a table; -1: it has none
  nodeOf(subject: number | null, row: number): { graph: number; node: number };
  data(graph: number): DataTable;
  note(graph: number): string;
}

function picture(part: string, of: Drawn, links: Links): DrawnPicture {
  let chosen = 0;
  const control = choice("Subject", of.graphs.map(({ label }, index) => [String(index), label]), (value) => view.choose((chosen = Number(value))));
  const view = new GraphView(
    of.title,
    of.graphs,
    `${part}-${of.id}`,
    (graph, node) => {
      const { subject, row } = of.rowOf(graph, node);
      if (row >= 0) links.row?.(subject, row);
    },
    (graph) => (control.value = String((chosen = graph))),
  );
  return {
    kind: "drawn",
    id: of.id,
    short: "The graph",
    title: of.title,
    reads: `${of.reads} ${keys}`,
    note: () => sentences(of.note(chosen), leftOut(of.graphs[chosen] as Graph)),
    controls: [control],
    data: () => of.data(chosen),
    tools: view.tools,
    foot: view.foot,
    prepare: () => view.prepare(),
    height: (width) => view.height(width),
    draw: (box, look, width) => view.draw(box, look, width),
    scene: (look, width) => view.scene(look, width),
    zoom: (factor) => view.zoom(factor),
    watch: (figure, redraw) => {
      view.watch(figure, redraw);
      links.node = (subject, row) => {
        const { graph, node } = of.nodeOf(subject, row);
        if (of.graphs[graph]?.nodes[node] !== undefined) view.reveal(graph, node, figure);
      };
    },
  };
}

function leftOut({ layout }: Graph): string {
  return sentences(
    layout.apart > 0 ? `${count(layout.apart, "node has", "nodes have")} no place in it, as nobody shows what they read and who reads them: beneath the graph.` : "",
    layout.straight > 0 ? `Long edges of ${count(layout.straight, "node", "nodes")} are drawn straight, across others.` : "",
    layout.left_out > 0 ? `${count(layout.left_out, "node", "nodes")} behind the first ${layout.layer.length} are not drawn.` : "",
  );
}

export function operatorGraph(part: Part, id: string, links: Links): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const largest = profile.subjects.reduce((most, { table }) => Math.max(most, table?.operators[0]?.share ?? 0), 0);
  const steps = stepsBelow(largest > 0 ? largest : 1); // one scale for all
  const all = part.graphs.flatMap((layout) => {
    const table = profile.subjects.find(({ subject }) => subject === layout.subject)?.table ?? null;
    return table === null || layout.subject === null ? [] : [{ subject: layout.subject, table, graph: graphOf(table, layout, m.names[layout.subject] ?? "", steps) }];
  });
  if (all.length === 0) return [];
  const of = (graph: number): (typeof all)[number] => all[graph] as (typeof all)[number];
  const drawn: Drawn = {
    id: "graph",
    title: "The graph that was executed",
    reads: "A box is an operator, beneath those whose results it reads; its colour and its strip are its share of an inference. +2: it executes two more nodes of the model.",
    graphs: all.map(({ graph }) => graph),
    rowOf: (graph, node) => ({ subject: of(graph).subject, row: node }),
    nodeOf: (subject, op) => ({ graph: all.findIndex((each) => each.subject === subject), node: op }),
    data: (graph) => withReads(operatorData(of(graph).table, of(graph).graph.label), of(graph).table, of(graph).graph),
    note: (graph) => sentences(distortedText(of(graph).table), of(graph).table.graph.left_out > 0 ? `${count(of(graph).table.graph.left_out, "edge is", "edges are")} left out.` : ""),
  };
  return [picture(id, drawn, links)];
}

function graphOf(table: OperatorTable, layout: GraphLayout, label: string, steps: number[]): Graph {
  const most = table.operators.reduce((largest, { share }) => Math.max(largest, share), 0);
  const nodes: GraphNode[] = layout.layer.map((_, op) => ({ kind: "", name: `operator ${op}`, value: "", step: -1, part: 0, ringed: false, said: [] }));
  for (const operator of table.operators) {
    const { share, mean_s: mean, low_s: low, high_s: high } = operator;
    if (nodes[operator.op] === undefined) continue;
    const unit = unitFor("s", mean);
    const more = operator.nodes.length - 1;
    const range = low === null || high === null ? "" : ` ${interval(low, high, unit)}`;
    nodes[operator.op] = {
      kind: more > 0 ? `${operator.kind}+${more}` : operator.kind,
      name: operator.name,
      value: percent(share, 2),
      step: Math.max(0, stepOf(share, steps)),
      part: most > 0 ? Math.max(0, share / most) : 0,
      ringed: false,
      said: [
        ["", table.distorted ? "" : `${format("s", mean)}${range}`],
        ["", operator.shapes],
        ["", operator.precision],
        ["kernel", operator.kernel],
        ["executes", operator.nodes.length === 0 ? "no node of the model" : `${nodesText(operator.nodes)} (${rules.get(operator.rule) ?? operator.rule})`],
      ],
    };
  }
  return {
    label, layout, nodes, from: table.graph.from, to: table.graph.to,
    first: table.operators.find(({ op }) => op < nodes.length)?.op ?? 0,
    what: "Share of an inference in %, from …", steps: steps.map((share) => shortNumber(Number((100 * share).toPrecision(1)))),
  };
}

export function layersGraph(part: Part, id: string, links: Links): Picture[] {
  const { layers } = part;
  const layout = part.graphs.find(({ subject }) => subject === null);
  if (layers === null || layout === undefined) return [];
  const graph = graphOfLayers(layers, layout);
  const drawn: Drawn = {
    id: "graph",
    title: "The graph, by its error",
    reads: "A box is a node of the reference's model, beneath those whose results it reads; its colour is the relative L2 error of what it makes, the largest of several. Ringed: where they diverge.",
    graphs: [graph],
    rowOf: (_, node) => ({ subject: null, row: worstOf(layers, node) ?? -1 }),
    nodeOf: (_, tensor) => ({ graph: 0, node: makerOf(layers, tensor) }),
    data: () => layersData(layers, graph),
    note: () => {
      const none = graph.nodes.filter(({ step }) => step < 0).length;
      return sentences(none > 0 ? `${count(none, "node makes", "nodes make")} nothing that was compared: hatched.` : "", layers.graph.left_out > 0 ? `${count(layers.graph.left_out, "edge is", "edges are")} left out.` : "");
    },
  };
  return [picture(id, drawn, links)];
}

// -1: an input of the model, say.
export function makerOf(layers: Layers, tensor: number): number {
  return layers.graph.nodes.findIndex(({ tensors }) => tensors.includes(tensor));
}

// Of the tensors that a node makes the one with the largest error, NaN or infinite in one only before all; null: it makes none that was compared.
function worstOf(layers: Layers, node: number): number | null {
  const error = (at: number): number => {
    const tensor = layers.tensors[at];
    return tensor === undefined ? -1 : tensor.non_finite_apart > 0 ? Infinity : (tensor.error ?? -1);
  };
  const made = layers.graph.nodes[node]?.tensors ?? [];
  return made.reduce<number | null>((worst, at) => (worst === null || error(at) > error(worst) ? at : worst), null);
}

function graphOfLayers(layers: Layers, layout: GraphLayout): Graph {
  const nodes = layers.graph.nodes.slice(0, layout.layer.length).map((node, at): GraphNode => {
    const worst = worstOf(layers, at);
    const tensor = worst === null ? undefined : layers.tensors[worst];
    const isBroken = (tensor?.non_finite_apart ?? 0) > 0;
    const error = tensor?.error ?? null;
    return {
      kind: node.operator,
      name: node.name,
      value: isBroken ? "NaN" : error === null ? MISSING : digits(error, 2),
      step: isBroken ? errors.length - 1 : error === null ? -1 : stepOf(error, errors),
      part: 0,
      ringed: worst !== null && worst === layers.jump,
      said: tensor === undefined ? [] : [["tensor", tensor.name], ["", `${tensor.dtype} [${tensor.shape.join(", ")}]`], ["rounding explains", digits(tensor.rounding_floor)], ["", isBroken ? "NaN or infinite in one only" : tensor.reason]],
    };
  });
  const first = layers.jump ?? layers.worst ?? layers.first_difference;
  return {
    label: layers.reference.label, layout, nodes, from: layers.graph.from, to: layers.graph.to,
    first: Math.max(0, first === null ? 0 : makerOf(layers, first)),
    what: "Relative L2 error, from …", steps: errors.map(shortNumber),
  };
}

function layersData(layers: Layers, { nodes, from, to }: Graph): DataTable {
  const texts = ["node", "operator", "tensor", "type", "shape", "reads"];
  const read = readBy(from, to);
  return {
    columns: [...texts.map((title) => ({ title, numeric: false })), { title: "relative L2 error", numeric: true }],
    rows: nodes.map(({ name, kind }, at) => {
      const tensor = layers.tensors[worstOf(layers, at) ?? -1];
      const reads = (read.get(at) ?? []).map((maker) => nodes[maker]?.name ?? "").join(", ");
      return [name, kind, tensor?.name ?? "", tensor?.dtype ?? "", tensor === undefined ? "" : `[${tensor.shape.join(", ")}]`, reads, tensor?.error ?? null];
    }),
  };
}

function readBy(from: number[], to: number[]): Map<number, number[]> {
  const read = new Map<number, number[]>();
  to.forEach((reader, at) => read.set(reader, [...(read.get(reader) ?? []), from[at] ?? -1]));
  return read;
}

// The data of a table of operators, with the names of those whose results each reads.
function withReads(data: DataTable, table: OperatorTable, { nodes, from, to }: Graph): DataTable {
  const read = readBy(from, to);
  const names = (op: number): string => (read.get(op) ?? []).map((maker) => nodes[maker]?.name ?? "").join(", ");
  return { columns: [...data.columns, { title: "reads", numeric: false }], rows: data.rows.map((row, at) => [...row, names(table.operators[at]?.op ?? -1)]) };
}
