// All charts but those beside the answer (hero.ts), in the order in which they stand. A maker gives those that a part, or what was measured of one model, has the
// data for.
import type { Part } from "../document.ts";
import { visible } from "../dom.ts";
import type { Links } from "../flame/links.ts";
import type { Picture } from "../picture.ts";
import { bars, counters } from "./bars.ts";
import { batchSizes } from "./batch.ts";
import { comparison } from "./comparison.ts";
import { differencePictures } from "./difference.ts";
import { distribution } from "./distribution.ts";
import { ecdf } from "./ecdf.ts";
import { layersGraph } from "./graph.ts";
import { generationPictures } from "./generation.ts";
import { heroOf } from "./hero.ts";
import { historyPictures } from "./history.ts";
import { leakTrials } from "./leak.ts";
import { loadPictures } from "./load.ts";
import { memoryByPhase } from "./memory.ts";
import { memoryOverTime } from "./memory_timeline.ts";
import { orderOfRun } from "./order.ts";
import { pairsInOrder } from "./pairs.ts";
import { pareto } from "./pareto.ts";
import { timeline } from "./timeline.ts";
import { coursePictures } from "./token_course.ts";
import { byModel } from "./trials.ts";
import type { Measured } from "./trials.ts";
import { validationPictures } from "./validation.ts";
import { variantsPictures } from "./variants.ts";

const ofParts: ((part: Part) => Picture[])[] = [validationPictures, differencePictures, (part) => historyPictures(part).slice(1), variantsPictures, comparison, pairsInOrder];
const ofModels: ((m: Measured) => Picture[])[] = [loadPictures, generationPictures, coursePictures, distribution, ecdf, timeline, orderOfRun, batchSizes, bars, pareto, memoryByPhase, memoryOverTime, leakTrials, counters];

// Where all subjects are under load: what is drawn of one inference after the other says nothing of them.
const ofLoads: ((m: Measured) => Picture[])[] = [loadPictures, generationPictures, coursePictures, memoryByPhase, memoryOverTime, leakTrials, counters];

export interface Gallery {
  title: string; // the model's name; "" where there is nothing to tell apart
  pictures: Picture[];
}

// Subjects of one model share charts; another model has its own, with its own units.
export function galleriesOf(part: Part, id: string, links: Links): Gallery[] {
  const models = byModel(part);
  const beside = new Set(heroOf(part).pictures.map((picture) => picture.id));
  const galleries = models.map(({ model, measured }, index): Gallery => {
    const makers = measured.subjects.every((subject) => subject.load !== undefined) ? ofLoads : ofModels;
    const pictures = makers.flatMap((maker) => maker(measured)).map((picture) => linked(picture, measured));
    return models.length === 1 ? { title: "", pictures } : { title: visible(model), pictures: pictures.map((picture) => ({ ...picture, id: `${picture.id}-${index + 1}`, title: `${picture.title}: ${visible(model)}`, short: picture.short ?? picture.title })) };
  });
  const [first] = galleries;
  const common = [...layersGraph(part, id, links), ...ofParts.flatMap((maker) => maker(part))];
  if (first !== undefined && models.length === 1) return [{ title: "", pictures: [...common, ...first.pictures.filter((picture) => !beside.has(picture.id))] }];
  return [{ title: "", pictures: common }, ...galleries].filter((gallery) => gallery.pictures.length > 0);
}

// Its series that are subjects are known by their names.
function linked(picture: Picture, measured: Measured): Picture {
  return picture.kind === "chart" ? { ...picture, names: measured.names } : picture;
}
