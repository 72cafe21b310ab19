// How a comparison's estimate came to rest: its looks over the pairs, and the pairs in their order.
import type { Look as LookTaken, Part, Run } from "../document.ts";
import { digits, percent } from "../format.ts";
import type { Look } from "../look.ts";
import type { Option } from "../echarts.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { axis, tooltip } from "../picture.ts";
import { directionShape } from "./comparison.ts";
import { changeText, directionWord, effectAxis, isTime, isTurned, marginEnds, worseBy } from "./effects.ts";
import { box, diamond, line, marks, points, whisker } from "./marks.ts";
import { metricTitle } from "./metric.ts";
import { domain, ends, valueAxis } from "./scale.ts";
import { byStretches } from "./thin.ts";
import { measured } from "./trials.ts";

type Primary = NonNullable<Run["comparison"]>["primary"][number];

export function pairsInOrder(part: Part): Picture[] {
  const m = measured(part);
  const margin = m?.run.plan.question?.margin ?? 0;
  const primary = (m?.run.comparison?.primary ?? []).filter((each) => each.differences.length > 0);
  if (m === null || primary.length === 0) return [];
  let shown = primary[0] as Primary;
  const nameOf = (each: Primary): string => m.names[each.candidate] ?? "";
  const picture: ChartPicture = {
    kind: "chart",
    id: "pairs",
    short: "Pairs in order",
    title: `The estimate as pairs came in: ${metricTitle(shown.metric).toLowerCase()}`,
    reads:
      "Pairs of processes from left to right in the order in which they ran. Diamonds and lines are the estimate and its repeated interval at each look, with its verdict above; together all looks hold the confidence. A trend in the points would be a drift.",
    note: () => note(shown),
    data: () => table(primary, nameOf),
    height: (width) => (width < 620 ? 300 : 340),
    option: (look, width) => option(shown, nameOf(shown), margin, look, width),
    legend: (look) => [
      { name: pairName, look: { color: look.muted, symbol: "circle", dash: [0, 40] } },
      { name: lookName, look: { color: look.text, symbol: "diamond", dash: "solid" } },
    ],
  };
  if (primary.length > 1) {
    picture.controls = [
      {
        label: "Candidate",
        choices: primary.map((each, index) => ({ value: String(index), label: `${nameOf(each)}${primary.some((other) => other !== each && other.candidate === each.candidate) ? ` against ${m.names[each.baseline] ?? ""}` : ""}` })),
        value: "0",
        change: (value) => (shown = primary[Number(value)] ?? shown),
      },
    ];
  }
  return [picture];
}

const pairName = "Pairs";
const lookName = "Estimate at each look";
const mostPairs = 1000;
const mostLooks = 120;

function taken(shown: Primary): LookTaken[] {
  return shown.looks.length <= mostLooks ? shown.looks : byStretches(shown.looks.length, (index) => (shown.looks[index] as LookTaken).estimate, mostLooks).map((index) => shown.looks[index] as LookTaken);
}

function note(shown: Primary): string {
  const drawn = Math.min(shown.differences.length, mostPairs);
  const parts = [];
  if (drawn < shown.differences.length) parts.push(`${drawn} of ${shown.differences.length} pairs are drawn: the smallest and largest of each stretch.`);
  if (shown.looks.length > mostLooks) parts.push(`${taken(shown).length} of ${shown.looks.length} looks are drawn.`);
  if (shown.looks.length === 0) parts.push("No look was taken: too few pairs.");
  return parts.join(" ");
}

// Around the pairs and the last interval; no difference and the margin are in sight where that costs no more than half the
// height. What lies beyond, such as the wide intervals of early looks, is cut.
function spanOf(shown: Primary, looks: LookTaken[], bandLow: number, bandHigh: number): { low: number; high: number } {
  const effect = (difference: number): number => worseBy(shown, difference);
  const last = looks.at(-1);
  const sorted = Float64Array.from(shown.differences.map(effect)).sort();
  const most = sorted.slice(Math.floor(sorted.length * 0.02), Math.max(1, Math.ceil(sorted.length * 0.98)));
  const [low, high] = ends([...most, ...(last === undefined ? [] : [last.estimate, last.interval?.low ?? last.estimate, last.interval?.high ?? last.estimate].map(effect))]);
  const [withLow, withHigh] = [Math.min(low, bandLow, 0), Math.max(high, bandHigh, 0)];
  const air = (high - low) * 0.15;
  return withHigh - withLow <= 2 * (high - low) ? domain(withLow, withHigh) : domain(low - air, high + air);
}

function option(shown: Primary, candidate: string, margin: number, look: Look, width: number): Option {
  const effect = (difference: number): number => worseBy(shown, difference);
  const looks = taken(shown);
  const [bandLow, bandHigh] = marginEnds(shown, margin);
  const span = spanOf(shown, looks, bandLow, bandHigh);
  const last = Math.max(shown.differences.length, ...looks.map((each) => each.pairs));
  const indices = byStretches(shown.differences.length, (index) => shown.differences[index] as number, mostPairs);
  const words = isTime(shown.metric) ? ["slower", "faster"] : ["worse", "better"];
  return {
    grid: { left: 62, right: 16, top: 26, bottom: 48 },
    xAxis: axis(look, "pair", { type: "value", min: 0, max: last + 1, minInterval: 1, axisLabel: { color: look.muted, fontSize: 12, showMaxLabel: false }, splitLine: { show: false } }),
    yAxis: effectAxis([shown], valueAxis(look, isTurned([shown]) ? "← better by   %   worse by →" : `← ${words[1]}   change, %   ${words[0]} →`, { unit: { name: "", factor: 1 }, log: false, ...span }, 340, { nameGap: 44 }, true)),
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Margin",
        [0],
        () => [0, 0],
        (_, place) => {
          const [a, b, zero] = [place(0, bandLow), place(last + 1, bandHigh), place(0, 0)];
          return [box(a.x, a.y, b.x, b.y, { fill: look.accent, opacity: margin > 0 ? 0.14 : 0 }), line(a.x, zero.y, b.x, zero.y, { stroke: look.text, lineWidth: 1 })];
        },
        null,
        { z: 1 },
      ),
      points(
        pairName,
        indices,
        (index) => [index + 1, effect(shown.differences[index] as number)],
        (index) => tooltip(`Pair ${index + 1}`, [[candidate, changeText(shown, shown.differences[index] as number)]]),
        { symbolSize: width < 620 ? 4 : 6, itemStyle: { color: look.muted, opacity: 0.6 }, z: 2 },
      ),
      marks(
        lookName,
        looks,
        (each) => [each.pairs, effect(each.estimate)],
        (each, place) => {
          const middle = place(each.pairs, effect(each.estimate));
          const interval = each.interval;
          const top = interval === null ? middle.y : Math.min(place(each.pairs, effect(interval.low)).y, place(each.pairs, effect(interval.high)).y);
          return [
            ...(interval === null ? [] : whisker("y", place(each.pairs, effect(interval.low)), place(each.pairs, effect(interval.high)), { stroke: look.text, lineWidth: 1.8 }, looks.length > 40 ? 1 : 5)),
            diamond(middle.x, middle.y, looks.length > 40 ? 3 : 5, { fill: look.text, stroke: look.panel, lineWidth: 1 }),
            ...(looks.length > 40 && each !== looks[looks.length - 1] ? [] : directionShape(each.direction, middle.x, top - 13, look)),
          ];
        },
        (each) =>
          tooltip(`${candidate}: look at ${each.pairs} pairs`, [
            ["verdict then", directionWord(each.direction, shown.metric)],
            ["estimate", changeText(shown, each.estimate)],
            ["interval", each.interval === null ? "none" : `${changeText(shown, each.interval.low)} … ${changeText(shown, each.interval.high)}`],
            ["p", digits(each.p, 2)],
            ["tested at", percent(each.level)],
          ]),
        { z: 4 },
      ),
    ],
  };
}

function table(primary: Primary[], nameOf: (each: Primary) => string): DataTable {
  const numeric = (title: string): { title: string; numeric: boolean } => ({ title, numeric: true });
  return {
    columns: [{ title: "candidate", numeric: false }, numeric("pair"), numeric("difference of ln (positive: worse)"), numeric("estimate of the look at this pair"), numeric("low"), numeric("high"), numeric("p"), numeric("level"), { title: "verdict of the look", numeric: false }],
    rows: primary.flatMap((each) =>
      each.differences.map((difference, index) => {
        const look = each.looks.find((candidate) => candidate.pairs === index + 1);
        return [nameOf(each), index + 1, difference, look?.estimate ?? null, look?.interval?.low ?? null, look?.interval?.high ?? null, look?.p ?? null, look?.level ?? null, look === undefined ? null : directionWord(look.direction, each.metric)];
      }),
    ),
  };
}
