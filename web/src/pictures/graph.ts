// The graph of operators that a runtime executed, coloured by their share of the time; of two models that are compared
// tensor by tensor the reference's, coloured by its error.
import type { GraphLayout, OperatorTable, Part } from "../document.ts";
import type { Links } from "../flame/links.ts";
import { count, format, interval, percent, unitFor } from "../format.ts";
import { GraphView } from "../graph/graph_view.ts";
import type { Graph, GraphNode } from "../graph/graph.ts";
import type { DataTable, DrawnPicture, Picture } from "../picture.ts";
import { nodesText, rules } from "./operator_words.ts";
import { choice, distortedText, operatorData } from "./profiled.ts";
import { measured, sentences } from "./trials.ts";

const keys = "Arrows go from node to node, Enter or a click to its row in the table; Shift and an arrow moves what is in view.";
const shares = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

const stepOf = (value: number, steps: readonly number[]): number => steps.filter((least) => value >= least).length - 1;

interface Drawn {
  id: string;
  title: string;
  reads: string;
  graphs: Graph[];
  rowOf(graph: number, node: number): { subject: number | null; row: number };
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
      links.row?.(subject, row);
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
        of.graphs.forEach((graph, at) => {
          const node = graph.nodes.findIndex((_, each) => {
            const shown = of.rowOf(at, each);
            return shown.subject === subject && shown.row === row;
          });
          if (node >= 0) view.reveal(at, node, figure);
        });
      };
    },
  };
}

function leftOut({ layout }: Graph): string {
  return sentences(
    layout.apart > 0 ? `${count(layout.apart, "node has", "nodes have")} no place in it, as nobody tells what they read and who reads them: beneath the graph.` : "",
    layout.straight > 0 ? `Long edges of ${count(layout.straight, "node", "nodes")} are drawn straight, across others.` : "",
    layout.left_out > 0 ? `${count(layout.left_out, "node", "nodes")} behind the first ${layout.layer.length} are not drawn.` : "",
  );
}

export function operatorGraph(part: Part, id: string, links: Links): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const all = part.graphs.flatMap((layout) => {
    const table = profile.subjects.find(({ subject }) => subject === layout.subject)?.table ?? null;
    return table === null || layout.subject === null ? [] : [{ subject: layout.subject, table, graph: graphOf(table, layout, m.names[layout.subject] ?? "") }];
  });
  if (all.length === 0) return [];
  const of = (graph: number): (typeof all)[number] => all[graph] as (typeof all)[number];
  const drawn: Drawn = {
    id: "graph",
    title: "The graph that was executed",
    reads: "A box is an operator, beneath those whose results it reads; its colour and its strip are its share of an inference. +2: it executes two more nodes of the model.",
    graphs: all.map(({ graph }) => graph),
    rowOf: (graph, node) => ({ subject: of(graph).subject, row: node }),
    data: (graph) => withReads(operatorData(of(graph).table, of(graph).graph.label), of(graph).table, of(graph).graph),
    note: (graph) => sentences(distortedText(of(graph).table), of(graph).table.graph.left_out > 0 ? `${count(of(graph).table.graph.left_out, "edge is", "edges are")} left out.` : ""),
  };
  return [picture(id, drawn, links)];
}

function graphOf(table: OperatorTable, layout: GraphLayout, label: string): Graph {
  const most = Math.max(...table.operators.map(({ share }) => share), 0);
  const nodes: GraphNode[] = layout.layer.map((_, op) => ({ kind: "", name: `operator ${op}`, value: "", step: -1, part: 0, ringed: false, said: [] }));
  for (const operator of table.operators) {
    const { share, mean_s: mean, low_s: low, high_s: high } = operator;
    if (nodes[operator.op] === undefined) continue;
    const unit = unitFor("s", mean);
    const more = operator.nodes.length - 1;
    const range = low === null || high === null ? "" : ` ${interval(low, high, unit)}`;
    nodes[operator.op] = {
      kind: more > 0 ? `${operator.kind} +${more}` : operator.kind,
      name: operator.name,
      value: percent(share, 2),
      step: stepOf(share, shares),
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
    what: "Share of an inference", steps: shares.map((share) => `${100 * share} %`),
  };
}

// The data of a table of operators, with the names of those whose results each reads.
function withReads(data: DataTable, table: OperatorTable, { nodes, from, to }: Graph): DataTable {
  const read = new Map<number, string[]>();
  to.forEach((reader, at) => read.set(reader, [...(read.get(reader) ?? []), nodes[from[at] ?? -1]?.name ?? ""]));
  return { columns: [...data.columns, { title: "reads", numeric: false }], rows: data.rows.map((row, at) => [...row, (read.get(table.operators[at]?.op ?? -1) ?? []).join(", ")]) };
}
