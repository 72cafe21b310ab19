// The picture that stands beside the answer: of each kind of report the one that shows it.
import type { Part } from "../document.ts";
import type { Picture } from "../picture.ts";
import { distribution } from "./distribution.ts";
import { effectsChart } from "./effects_chart.ts";
import { gateChart } from "./gate_chart.ts";
import { historyPictures } from "./history.ts";
import { layersPictures } from "./layers.ts";
import { loadPictures } from "./load.ts";
import { outputErrors } from "./output_errors.ts";
import { settingsChart } from "./settings_chart.ts";
import { byModel, measured } from "./trials.ts";
import { whyChart } from "./why_chart.ts";

export interface Hero {
  pictures: Picture[];
  isWide: boolean; // it takes all of the page's width
}

// Where nothing is compared: response times of a load, else latencies; of several models there is none for all.
function ofOneModel(part: Part): Picture[] {
  const m = measured(part);
  if (m === null || byModel(part).length !== 1) return [];
  const pictures = m.subjects.every((subject) => subject.load !== undefined) ? loadPictures(m) : distribution(m);
  return pictures.slice(0, 1).map((picture) => (picture.kind !== "chart" ? picture : { ...picture, names: m.names, compact: true, height: (width: number) => Math.min(300, picture.height(width)) }));
}

export function heroOf(part: Part): Hero {
  const { gate, validation, layers, history, run } = part;
  if (layers !== null) return { pictures: layersPictures(part), isWide: true };
  if (history !== null) return { pictures: historyPictures(part).slice(0, 1), isWide: true };
  const effects = effectsChart(part.overview);
  const settings = run === null ? [] : settingsChart(run);
  if (settings.length > 0) return { pictures: [...settings, ...effects], isWide: false };
  const why = run === null ? [] : whyChart(run);
  if (why.length > 0) return { pictures: [...effects, ...why], isWide: false };
  const [first] = [
    ...(gate === null ? [] : gateChart(gate)),
    ...(validation === null ? [] : outputErrors(validation).map((picture) => ({ ...picture, compact: true }))),
    ...effects,
    ...ofOneModel(part),
  ];
  return { pictures: first === undefined ? [] : [first], isWide: false };
}
