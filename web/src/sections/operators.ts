// Where the time goes, operator by operator, and why one subject is slower than another.
import type { Part } from "../document.ts";
import { el } from "../dom.ts";
import { flame, flameDifference } from "../pictures/flame.ts";
import { operatorTimeline } from "../pictures/operator_timeline.ts";
import { slowest } from "../pictures/operators.ts";
import { roofline } from "../pictures/roofline.ts";
import { show } from "../picture.ts";
import type { Picture } from "../picture.ts";
import { explanations } from "./explanations.ts";
import { operatorTables } from "./operator_table.ts";

export function operators(part: Part, id: string): (HTMLElement | null)[] {
  const run = part.run;
  if (run === null || (run.profile ?? null) === null) return [];
  const shown = (all: Picture[]): HTMLElement | null => (all.length === 0 ? null : el("div", { class: "pictures" }, ...all.map((picture) => show(picture, id))));
  return [
    explanations(run),
    shown(flameDifference(part, id)),
    shown(flame(part, id)),
    operatorTables(run),
    shown([...slowest(part), ...roofline(part), ...operatorTimeline(part)]),
  ];
}
