// All pictures, in the order in which they stand. A maker gives those that a part has the data for.
import type { Part } from "../document.ts";
import type { Picture } from "../picture.ts";
import { bars, counters } from "./bars.ts";
import { batchSizes } from "./batch.ts";
import { comparison } from "./comparison.ts";
import { differencePictures } from "./difference.ts";
import { distribution } from "./distribution.ts";
import { ecdf } from "./ecdf.ts";
import { historyPictures } from "./history.ts";
import { layersPictures } from "./layers.ts";
import { leakTrials } from "./leak.ts";
import { memoryByPhase } from "./memory.ts";
import { memoryOverTime } from "./memory_timeline.ts";
import { orderOfRun } from "./order.ts";
import { pairsInOrder } from "./pairs.ts";
import { pareto } from "./pareto.ts";
import { timeline } from "./timeline.ts";
import { validationPictures } from "./validation.ts";
import { variantsPictures } from "./variants.ts";

type Maker = (part: Part) => Picture[];

const makers: Maker[] = [
  validationPictures,
  differencePictures,
  layersPictures,
  historyPictures,
  variantsPictures,
  comparison,
  pairsInOrder,
  distribution,
  ecdf,
  timeline,
  orderOfRun,
  batchSizes,
  bars,
  pareto,
  memoryByPhase,
  memoryOverTime,
  leakTrials,
  counters,
];

export function picturesOf(part: Part): Picture[] {
  return makers.flatMap((maker) => maker(part));
}
