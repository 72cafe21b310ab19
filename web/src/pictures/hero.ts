// The picture that stands beside the answer: of each kind of report the one that shows it.
import type { Part } from "../document.ts";
import type { Picture } from "../picture.ts";
import { effectsChart } from "./effects_chart.ts";
import { gateChart } from "./gate_chart.ts";
import { historyPictures } from "./history.ts";
import { layersPictures } from "./layers.ts";
import { outputErrors } from "./output_errors.ts";
import { whyChart } from "./why_chart.ts";

export interface Hero {
  pictures: Picture[];
  isWide: boolean; // it takes all of the page's width
}

export function heroOf(part: Part): Hero {
  const { gate, validation, layers, history, run } = part;
  if (layers !== null) return { pictures: layersPictures(part), isWide: true };
  if (history !== null) return { pictures: historyPictures(part).slice(0, 1), isWide: true };
  const effects = effectsChart(part.overview);
  const why = run === null ? [] : whyChart(run);
  if (why.length > 0) return { pictures: [...effects, ...why], isWide: false };
  const [first] = [
    ...(gate === null ? [] : gateChart(gate)),
    ...(validation === null ? [] : outputErrors(validation).map((picture) => ({ ...picture, compact: true }))),
    ...effects,
  ];
  return { pictures: first === undefined ? [] : [first], isWide: false };
}
