// What a gate expects, and how far each measurement is from its bound.
import type { Gate } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import type { Look } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, Picture } from "../picture.ts";
import { figureText } from "../sections/gate_table.ts";
import { shapes, toneOf, wordOf } from "../signs.ts";
import { laneFrame, lanesHeight, signPlace } from "./lanes.ts";
import { badge, box, diamond, line, marks, target, whisker } from "./marks.ts";
import { domain, ends, valueAxis } from "./scale.ts";

type Judged = Gate["verdicts"][number];

interface Row {
  judged: Judged;
  of(value: number): number; // in per cent of the bound
}

const mostLanes = 12;
const order = ["fail", "inconclusive", "pass", "none"];

function rowsOf(gate: Gate): Row[] {
  const sorted = [...gate.verdicts].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
  return sorted.flatMap((judged) => {
    const bound = judged.threshold;
    return judged.value === null || bound === null || !(bound > 0) ? [] : [{ judged, of: (value: number) => (100 * value) / bound }];
  });
}

export function gateChart(gate: Gate): Picture[] {
  const every = rowsOf(gate);
  if (every.length === 0) return [];
  const rows = every.slice(0, mostLanes);
  const picture: ChartPicture = {
    kind: "chart",
    id: "bounds",
    title: "Measurements against their bounds",
    short: "Bounds",
    reads: "100 % is the bound; the shaded side is not allowed. Lines are intervals.",
    note: () => (rows.length < every.length ? `The first ${rows.length} of ${every.length} are drawn; the table below has all of them.` : ""),
    compact: true,
    zoom: "none",
    height: (width) => lanesHeight(rows.length, width, 36),
    option: (look, width) => option(rows, look, width),
    data: () => ({
      columns: [{ title: "expectation", numeric: false }, { title: "subject", numeric: false }, { title: "outcome", numeric: false }, { title: "value", numeric: true }, { title: "bound", numeric: true }, { title: "low", numeric: true }, { title: "high", numeric: true }, { title: "unit", numeric: false }],
      rows: every.map(({ judged: j }) => [j.expectation, j.subject, wordOf[j.outcome], j.value, j.threshold, j.interval?.low ?? null, j.interval?.high ?? null, j.unit]),
    }),
  };
  return [picture];
}

function option(rows: Row[], look: Look, width: number): Option {
  const lanes = rows.map(({ judged }) => ({ text: `${judged.expectation}\n${judged.subject}`, after: figureText(judged).value, word: wordOf[judged.outcome] }));
  const frame = laneFrame(lanes, look, width);
  const values = rows.flatMap(({ judged: { value, interval }, of }) => [value, interval?.low ?? null, interval?.high ?? null].flatMap((each) => (each === null ? [] : [of(each)])));
  const [low, high] = ends([...values, 100]);
  const wide = high > 400 && low > 0;
  const span = wide ? { low: low / 1.1, high: high * 1.1 } : domain(Math.min(0, low), high);
  const items = rows.map((row, at) => ({ row, at }));
  const tip = ({ row: { judged } }: (typeof items)[number]): HTMLElement => {
    const text = figureText(judged);
    return tooltip(visible(judged.expectation), [["subject", judged.subject], ["outcome", wordOf[judged.outcome]], ["measured", text.value], ["interval", text.interval], ["bound", text.threshold], ["", judged.reason]]);
  };
  const color = ({ outcome }: Judged): string => ({ good: look.good, bad: look.bad, faint: look.muted, plain: look.text, warning: look.warning })[toneOf[outcome]];
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, "% of the bound", { unit: { name: "", factor: 1 }, log: wide, ...span }, frame.room, {}, true),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Not allowed",
        items,
        ({ at }) => [100, at],
        ({ row, at }, place, area) => {
          const [bound, above, below] = [place(100, at), place(100, at - 0.42), place(100, at + 0.42)];
          const isFloor = row.judged.relation?.startsWith(">") === true;
          const end = isFloor ? area.x : area.x + area.width;
          return [box(bound.x, above.y, end, below.y, { fill: look.bad, opacity: 0.12 }), line(bound.x, above.y, bound.x, below.y, { stroke: look.text, lineWidth: 1.5 })];
        },
        null,
        { z: 1 },
      ),
      marks(
        "Measured",
        items,
        ({ row, at }) => [row.of(row.judged.value as number), at],
        ({ row: { judged, of }, at }, place, area) => {
          const middle = place(of(judged.value as number), at);
          const interval = judged.interval === null ? [] : whisker("x", place(of(judged.interval.low), at), place(of(judged.interval.high), at), { stroke: color(judged), lineWidth: 2.5 }, 5);
          const { x, y } = signPlace(area, middle.y, width);
          return [target(area.x, middle.y - 10, area.x + area.width, middle.y + 10), ...interval, diamond(middle.x, middle.y, 6, { fill: color(judged), stroke: look.panel, lineWidth: 1 }), badge(shapes[toneOf[judged.outcome]], x, y, 16, { fill: color(judged) })];
        },
        tip,
        { z: 4, clip: false },
      ),
    ],
  };
}
