// Where the time goes, operator by operator, and why one subject is slower than another.
import type { Part } from "../document.ts";
import { el } from "../dom.ts";
import type { Links } from "../flame/links.ts";
import { flame, flameDifference } from "../pictures/flame.ts";
import { operatorGraph } from "../pictures/graph.ts";
import { operatorTimeline } from "../pictures/operator_timeline.ts";
import { arenaInOrder, byMemory } from "../pictures/operator_memory.ts";
import { slowest } from "../pictures/operators.ts";
import { roofline } from "../pictures/roofline.ts";
import { sandwich } from "../pictures/sandwich.ts";
import { show } from "../views.ts";
import type { Picture } from "../picture.ts";
import { explanations } from "./explanations.ts";
import { operatorTables } from "./operator_table.ts";

export function operators(part: Part, id: string, links: Links): (HTMLElement | null)[] {
  const run = part.run;
  if (run === null || (run.profile ?? null) === null) return [];
  const shown = (all: Picture[]): HTMLElement | null => (all.length === 0 ? null : el("div", { class: "pictures" }, ...all.map((picture) => show(picture, id))));
  const difference = shown(flameDifference(part, id, links));
  const callers = shown(sandwich(part, id, links));
  const graph = shown(operatorGraph(part, id, links));
  return [
    explanations(run, links),
    difference,
    shown(flame(part, id, links)),
    callers,
    graph,
    operatorTables(run, links),
    shown([...slowest(part), ...roofline(part), ...operatorTimeline(part), ...byMemory(part), ...arenaInOrder(part)]),
  ];
}
