// The tensors of two executions of one graph, in its order, with where they part.
import type { Layers } from "../document.ts";
import { el, visible } from "../dom.ts";
import type { Links } from "../flame/links.ts";
import { count } from "../format.ts";
import { makerOf } from "../pictures/graph.ts";
import { Grid } from "./grid.ts";
import type { Column } from "./grid_model.ts";

type Tensor = Layers["tensors"][number];
interface TensorRow {
  tensor: Tensor;
  place: string; // what is special about it
}

export function tensorRows(layers: Layers): TensorRow[] {
  return layers.tensors.map((tensor, index) => ({
    tensor,
    place: [
      layers.jump === index ? "they diverge" : "",
      layers.first_difference === index ? "first difference" : "",
      layers.worst === index ? "largest" : "",
      tensor.reason === "" ? "" : "not compared",
    ].filter((word) => word !== "").join(", "),
  }));
}

function number(id: string, title: string, of: (tensor: Tensor) => number | null, about?: string): Column<TensorRow> {
  return {
    kind: "number", id, title, quantity: "plain",
    measure: ({ tensor }) => ({ value: of(tensor), note: of(tensor) === null ? tensor.reason : "" }),
    ...(about === undefined ? {} : { about }),
  };
}

const columns: Column<TensorRow>[] = [
  { kind: "text", id: "tensor", title: "tensor", text: ({ tensor: t }) => t.name, sub: ({ tensor: t }) => (t.candidate_name === t.name ? "" : `with ${t.candidate_name}`) },
  { kind: "text", id: "place", title: "place", text: (row) => row.place, tone: (row) => (row.place === "" ? null : row.place.startsWith("they diverge") ? "bad" : row.place === "not compared" ? "faint" : "warning") },
  { kind: "number", id: "position", title: "position", quantity: "count", measure: ({ tensor: t }) => ({ value: t.position }) },
  { kind: "text", id: "operator", title: "operator", text: ({ tensor: t }) => t.operator, sub: ({ tensor: t }) => (t.node === t.name ? "" : t.node) },
  number("error", "error", (t) => t.error, "Relative L2 error, as its growth is judged by."),
  number("floor", "rounding floor", (t) => t.rounding_floor, "What rounding of one operator explains."),
  number("relative_l2", "relative L2", (t) => t.relative_l2),
  number("relative_l1", "relative L1", (t) => t.relative_l1),
  number("relative_max", "relative max", (t) => t.relative_max),
  number("max", "largest difference", (t) => t.max_absolute),
  number("mae", "MAE", (t) => t.mae),
  number("rmse", "RMSE", (t) => t.rmse),
  number("cosine", "cosine", (t) => t.cosine),
  { kind: "number", id: "non_finite", title: "finite in one only", quantity: "count", measure: ({ tensor: t }) => ({ value: t.non_finite_apart || null }) },
  { kind: "text", id: "dtype", title: "dtype", text: ({ tensor: t }) => (t.dtype === t.candidate_dtype ? t.dtype : `${t.dtype}, ${t.candidate_dtype}`) },
  { kind: "text", id: "shape", title: "shape", text: ({ tensor: t }) => (t.shape.length === 0 ? "" : `[${t.shape.join(", ")}]`) },
  { kind: "text", id: "matched", title: "matched by", text: ({ tensor: t }) => t.matched_by },
];

// `links`: null where there is no picture of the graph.
export function layersTable(layers: Layers, links: Links | null): HTMLElement | null {
  if (layers.tensors.length === 0) return null;
  const table = new Grid({
    caption: `Tensors of ${layers.candidate.label} against ${layers.reference.label}`,
    columns,
    rows: tensorRows(layers),
    off: new Set(["relative_l2", "relative_l1", "mae", "rmse", "matched", "relative_max"]),
    mark: (row) => (row.place.startsWith("they diverge") ? "failed" : undefined),
    legend: layers.note,
    leads: ({ tensor }) => {
      const index = layers.tensors.indexOf(tensor);
      return links === null || makerOf(layers, index) < 0 ? null : { text: "In the graph", act: () => links.node?.(null, index) };
    },
  });
  if (links !== null) links.row = (_, index) => table.reveal(({ tensor }) => tensor === layers.tensors[index]);
  return el("div", {}, table.element, alone(layers.reference_only, "reference"), alone(layers.candidate_only, "candidate"));
}

// Of a large graph hundreds: they stand behind a line that counts them.
function alone(names: string[], role: string): HTMLElement | null {
  if (names.length === 0) return null;
  const list = el("ul", { class: "names" }, ...names.map((each) => el("li", {}, el("code", {}, visible(each)))));
  return el("details", {}, el("summary", {}, `${count(names.length, "tensor", "tensors")} of the ${role} alone`), list);
}
