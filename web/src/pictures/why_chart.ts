// Why one subject is slower than another, as a picture: the clauses of the explanation with their intervals.
import type { ProfileClause, Run } from "../document.ts";
import type { Option } from "../echarts.ts";
import { percent, signed, unitFor } from "../format.ts";
import type { Unit } from "../format.ts";
import type { Look } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, Picture } from "../picture.ts";
import { laneFrame, lanesHeight } from "./lanes.ts";
import { box, line, marks, target, whisker } from "./marks.ts";
import { domain, ends, valueAxis } from "./scale.ts";
import { uniqueNames } from "./trials.ts";

const mostLanes = 8;

interface Bar {
  text: string;
  mean_s: number;
  low_s: number;
  high_s: number;
  whole: boolean;
}

// The whole difference first, then the largest clauses.
export function whyChart(run: Run): Picture[] {
  const why = (run.profile?.explanations ?? []).find((each) => each.clauses.length > 0);
  if (why === undefined) return [];
  const names = uniqueNames(run.subjects.map((subject) => subject.label));
  const [subject, baseline] = [names[why.subject] ?? "", names[why.baseline] ?? ""];
  const sorted = [...why.clauses].sort((a, b) => Math.abs(b.mean_s) - Math.abs(a.mean_s));
  const bar = (clause: ProfileClause): Bar => ({ text: clause.sentence, mean_s: clause.mean_s, low_s: clause.low_s, high_s: clause.high_s, whole: false });
  const bars = [{ text: "whole difference", mean_s: why.difference_s, low_s: why.low_s, high_s: why.high_s, whole: true }, ...sorted.slice(0, mostLanes).map(bar)];
  const unit = unitFor("s", Math.max(...bars.map((each) => Math.abs(each.mean_s))));
  const picture: ChartPicture = {
    kind: "chart",
    id: "why",
    title: `Why ${subject} differs from ${baseline}`,
    short: "Why",
    reads: "Time per inference in profiles, with 95 % intervals; left of 0 is faster.",
    note: () => (sorted.length > mostLanes ? `The ${mostLanes} largest of ${sorted.length} causes.` : ""),
    compact: true,
    zoom: "none",
    height: (width) => lanesHeight(bars.length, width, 30),
    option: (look, width) => option(bars, unit, why.difference_s, look, width),
    data: () => ({
      columns: [{ title: "cause", numeric: false }, { title: "difference, s", numeric: true }, { title: "low", numeric: true }, { title: "high", numeric: true }],
      rows: bars.map((each) => [each.text, each.mean_s, each.low_s, each.high_s]),
    }),
  };
  return [picture];
}

function option(bars: Bar[], unit: Unit, whole: number, look: Look, width: number): Option {
  const at = (seconds: number): number => seconds / unit.factor;
  const frame = laneFrame(bars.map((each) => ({ text: each.text, after: `${signed(at(each.mean_s))} ${unit.name}` })), look, width);
  const span = domain(...ends([0, ...bars.flatMap((each) => [at(each.mean_s), at(each.low_s), at(each.high_s)])]));
  return {
    grid: frame.grid,
    xAxis: valueAxis(look, "difference per inference", { unit, log: false, ...span }, frame.room, {}, true),
    yAxis: frame.yAxis,
    tooltip: { trigger: "item" },
    series: [
      marks(
        "Causes",
        bars.map((each, lane) => ({ each, lane })),
        ({ each, lane }) => [at(each.mean_s), lane],
        ({ each, lane }, place, area) => {
          const [zero, end, low, high] = [place(0, lane), place(at(each.mean_s), lane), place(at(each.low_s), lane), place(at(each.high_s), lane)];
          const fill = each.whole ? look.muted : each.mean_s > 0 ? look.bad : look.accent;
          return [
            target(area.x, zero.y - 9, area.x + area.width, zero.y + 9),
            box(zero.x, zero.y - 7, end.x, zero.y + 7, { fill, opacity: 0.75 }),
            line(zero.x, zero.y - 15, zero.x, zero.y + 15, { stroke: look.text, lineWidth: 1 }),
            ...whisker("x", low, high, { stroke: look.text, lineWidth: 1.5 }, 4),
          ];
        },
        ({ each }) => tooltip(each.text.slice(0, 200), [["difference", `${signed(at(each.mean_s))} ${unit.name}`], ["95 % interval", `${signed(at(each.low_s))} … ${signed(at(each.high_s))} ${unit.name}`], ...(each.whole || whole === 0 ? [] : [["of the difference", percent(each.mean_s / whole)] as [string, string]])]),
      ),
    ],
  };
}
