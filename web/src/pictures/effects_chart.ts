// The answer as a picture: each candidate's change with its interval, against the margin.
import type { Effect, Overview } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { digits, givenPercent, MISSING, signed } from "../format.ts";
import type { Look } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { shapes } from "../signs.ts";
import { isNarrow, laneFrame, lanesHeight, signPlace } from "./lanes.ts";
import type { Lane } from "./lanes.ts";
import { badge, box, diamond, line, marks, target, whisker } from "./marks.ts";
import { metricTitle } from "./metric.ts";
import { domain, ends, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";

const mostLanes = 40;
const fewLanes = 8;

// A change against something, and what is said of it.
export type Change = Omit<Effect, "verdict" | "baseline"> & { verdict: string; itself?: boolean }; // itself: nothing is against itself

interface Row {
  at: number; // its lane
  effect: Change;
}

interface Plot {
  lanes: Lane[];
  subjects: (number | null)[]; // of the lanes
  rows: Row[];
}

// "−10.2 % [−10.4, −9.8]"; what takes twice as long and more as a factor: "3.74× [3.64, 3.83]".
export function effectText({ change, interval }: Pick<Effect, "change" | "interval">, isFactor = (change ?? 0) >= 1 || (change ?? 0) <= -0.5): string {
  if (change === null) return "";
  const text = (share: number): string => (isFactor ? digits(1 + share) : signed(share * 100));
  return `${text(change)}${isFactor ? "×" : " %"}${interval === null ? "" : ` [${text(interval.low)}, ${text(interval.high)}]`}`;
}

// One lane for each, under a heading for what several have in common.
function plotOf(effects: Change[], isFactor: boolean): Plot {
  const plot: Plot = { lanes: [], subjects: [], rows: [] };
  const groups = new Set(effects.map((effect) => effect.group)).size;
  const alone = new Set(effects.map((effect) => `${effect.label} ${effect.against}`)).size === 1;
  effects.forEach((effect, index) => {
    if (groups > 1 && !alone && effects[index - 1]?.group !== effect.group) {
      plot.lanes.push({ text: effect.group, heading: true });
      plot.subjects.push(null);
    }
    plot.rows.push({ at: plot.lanes.length, effect });
    plot.lanes.push({ text: groups > 1 && alone ? effect.group : effect.label, after: effect.itself === true ? "" : effectText(effect, isFactor), word: effect.verdict });
    plot.subjects.push(effect.subject);
  });
  return plot;
}

// In per cent, as its labels are; over more than a factor of three as factors, on a logarithmic axis.
type EffectScale = Scale & { isFactor: boolean };

function scaleOfEffects(effects: Change[], margin: number): EffectScale {
  const values = effects.flatMap(({ change, interval }) => [change, interval?.low ?? null, interval?.high ?? null]).filter((value): value is number => value !== null);
  const [low, high] = ends([...values, 0, -margin / (1 + margin), margin]);
  if ((1 + high) / (1 + low) > 3) return { unit: { name: "", factor: 1 }, log: true, low: (1 + low) / 1.08, high: (1 + high) * 1.08, isFactor: true };
  return { unit: { name: "", factor: 1 }, log: false, ...domain(100 * low, 100 * high), isFactor: false };
}

export function effectsChart(overview: Overview): Picture[] {
  const effects = overview.effects.filter((effect) => effect.baseline !== null);
  return changesChart(effects, overview.margin, { id: "effects", short: "Change" });
}

export function changesChart(effects: Change[], margin: number, { id, short, title }: { id: string; short: string; title?: string }): Picture[] {
  if (!effects.some((effect) => effect.change !== null)) return [];
  const shown = effects.slice(0, mostLanes);
  const scale = scaleOfEffects(shown, margin);
  const plot = plotOf(shown, scale.isFactor);
  const [metric = ""] = new Set(effects.filter((effect) => effect.metric !== "").map((effect) => effect.metric));
  const baselines = [...new Set(effects.map((effect) => effect.against))];
  const laneRoom = plot.lanes.length > 2 * fewLanes ? 18 : plot.lanes.length > fewLanes ? 24 : 34;
  const confidence = effects.find((effect) => effect.interval !== null)?.interval?.confidence;
  const picture: ChartPicture = {
    kind: "chart",
    id,
    title: title ?? `${metricTitle(metric)} against ${baselines.length === 1 ? visible(baselines[0] ?? "") : "the baselines"}`,
    short,
    reads: `The line is the ${confidence === undefined ? "" : `${givenPercent(confidence)} `}interval of the change; the band is the margin of ${givenPercent(margin)}.`,
    note: () => (effects.length > mostLanes ? `The first ${mostLanes} of ${effects.length} are drawn; the data have all of them.` : ""),
    compact: true,
    zoom: "none",
    height: (width) => lanesHeight(plot.lanes.length, width, laneRoom),
    option: (look, width) => option(plot, scale, margin, metric, look, width),
    lanes: () => plot.subjects,
    data: () => table(effects),
  };
  return [picture];
}

function option(plot: Plot, scale: EffectScale, margin: number, metric: string, look: Look, width: number): Option {
  const frame = laneFrame(plot.lanes, look, width);
  const at = (share: number): number => (scale.isFactor ? 1 + share : 100 * share);
  const title = `change of ${metricTitle(metric).toLowerCase()}${scale.isFactor ? ", × of the baseline's" : isNarrow(width) ? ", %" : ", % of the baseline's"}`;
  const drawn = plot.rows.filter(({ effect }) => effect.change !== null);
  const tip = ({ effect }: Row): HTMLElement => effectTip(effect);
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, title, scale, frame.room, {}, true),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Margin",
        [0],
        () => [at(0), 0],
        (_, place, area) => {
          const [low, high, zero] = [place(at(-margin / (1 + margin)), 0), place(at(margin), 0), place(at(0), 0)];
          return [box(low.x, area.y, high.x, area.y + area.height, { fill: look.accent, opacity: margin > 0 ? 0.16 : 0 }), line(zero.x, area.y, zero.x, area.y + area.height, { stroke: look.text, lineWidth: 1 })];
        },
        null,
        { z: 1 },
      ),
      marks(
        "Change",
        drawn,
        ({ at: lane, effect }) => [at(effect.change as number), lane],
        ({ at: lane, effect }, place, area) => {
          const middle = place(at(effect.change as number), lane);
          const color = colorOf(effect, look);
          const interval = effect.interval === null ? [] : whisker("x", place(at(effect.interval.low), lane), place(at(effect.interval.high), lane), { stroke: color, lineWidth: 2.5 }, 5);
          return [target(area.x, middle.y - 10, area.x + area.width, middle.y + 10), ...interval, diamond(middle.x, middle.y, 6, { fill: color, stroke: look.panel, lineWidth: 1 })];
        },
        tip,
        { z: 4 },
      ),
      marks(
        "Verdict",
        plot.rows,
        ({ at: lane }) => [at(0), lane],
        ({ at: lane, effect }, place, area) => {
          const { x, y } = signPlace(area, place(at(0), lane).y, width);
          return [badge(shapes[effect.tone], x, y, 16, { fill: colorOf(effect, look) })];
        },
        tip,
        { z: 5, clip: false },
      ),
    ],
  };
}

function colorOf(effect: Change, look: Look): string {
  return { good: look.good, warning: look.warning, bad: look.bad, faint: look.muted, plain: look.text }[effect.tone];
}

function effectTip(effect: Change): HTMLElement {
  const { interval } = effect;
  return tooltip(`${effect.label} against ${effect.against}`, [
    ["", effect.group],
    ["verdict", effect.verdict],
    [`change of ${metricTitle(effect.metric).toLowerCase()}`, effect.change === null ? MISSING : `${signed(effect.change * 100)} %`],
    ["interval", interval === null ? "none" : `${signed(interval.low * 100)} … ${signed(interval.high * 100)} % (${givenPercent(interval.confidence)})`],
  ]);
}

function table(effects: Change[]): DataTable {
  const text = (title: string): { title: string; numeric: boolean } => ({ title, numeric: false });
  const number = (title: string): { title: string; numeric: boolean } => ({ title, numeric: true });
  return {
    columns: [text("candidate"), text("baseline"), text("group"), text("metric"), text("verdict"), number("change, share"), number("low"), number("high"), number("confidence")],
    rows: effects.map((effect) => [effect.label, effect.against, effect.group, effect.metric, effect.verdict, effect.change, effect.interval?.low ?? null, effect.interval?.high ?? null, effect.interval?.confidence ?? null]),
  };
}
