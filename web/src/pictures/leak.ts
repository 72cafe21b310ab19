// Memory after each iteration of a leak trial, and the slope that its verdict is of.
import type { Leak, Trial } from "../document.ts";
import type { Option } from "../echarts.ts";
import { count, format } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { marks } from "./marks.ts";
import { scaleOf, valueAxis } from "./scale.ts";
import { byStretches } from "./thin.ts";
import { sentences, subjectControl } from "./trials.ts";
import type { Measured } from "./trials.ts";

const mostPoints = 1500;

export function leakTrials(m: Measured): Picture[] {
  const trials = [...m.run.side_trials, ...m.run.trials].filter((trial) => (trial.memory_after_iteration_bytes?.length ?? 0) > 1);
  const subjects = [...new Set(trials.map((trial) => trial.subject))];
  if (subjects.length === 0) return [];
  let subject = subjects[0] as number;
  const trial = (): Trial => trials.find((each) => each.subject === subject) as Trial;
  const leak = (): Leak | null => m.run.subjects[subject]?.leak ?? null;
  const picture: ChartPicture = {
    kind: "chart",
    id: "leak",
    title: "Memory after each iteration of the leak trials",
    short: "Leak trials",
    reads: "The dashed line has the slope that the verdict is of, over the iterations that were judged; it begins at the memory of the first of them. The shaded wedge is the slope's interval.",
    note: () => {
      const total = trial().memory_after_iteration_bytes?.length ?? 0;
      return sentences(verdictText(leak(), m.names[subject] ?? ""), total > mostPoints ? `${count(mostPoints, "point", "points")} of ${total} are drawn: the smallest and largest of each stretch.` : "");
    },
    controls: subjects.length > 1 ? [subjectControl(subjects, m.names, null, (chosen) => (subject = chosen ?? subject))] : [],
    data: () => leakTable(trials, m.names),
    height: () => 340,
    option: (look, width) => leakOption(trial().memory_after_iteration_bytes ?? [], leak(), look, width),
    legend: (look) => [
      { name: memoryName, look: { ...look.series(0), dash: "solid" } },
      { name: slopeName, look: { color: look.bad, symbol: "triangle", dash: "dashed" } },
    ],
  };
  return [picture];
}

const memoryName = "Memory";
const slopeName = "Slope that was judged";

function verdictText(leak: Leak | null, name: string): string {
  if (leak === null) return `${name}: nothing was judged.`;
  const between = leak.interval === null ? "no interval" : `${format("bytes", leak.interval.low)} … ${format("bytes", leak.interval.high)}`;
  return `${name}: ${leak.verdict === "leak" ? "a leak" : leak.verdict.replaceAll("_", " ")}, ${format("bytes", leak.bytes_per_iteration)} per iteration (${between})${leak.reason === "" ? "" : `: ${leak.reason}`}, from iteration ${leak.from_iteration} on.`;
}

function leakOption(memory: number[], leak: Leak | null, look: Look, width: number): Option {
  const scale = scaleOf("bytes", memory);
  const kept = byStretches(memory.length, (index) => memory[index] as number, mostPoints);
  const from = leak === null ? 0 : Math.max(1, leak.from_iteration);
  const start = memory[from - 1];
  const slope = leak === null || start === undefined ? [] : [[from, start / scale.unit.factor], [memory.length, (start + leak.bytes_per_iteration * (memory.length - from)) / scale.unit.factor]];
  const ends = leak === null || leak.interval === null || start === undefined ? [] : [[from, start, leak.interval.low, leak.interval.high]];
  return {
    grid: { left: 66, right: 20, top: 14, bottom: 48 },
    xAxis: axis(look, "iterations", { type: "value", min: 0, max: memory.length, splitLine: { show: false }, splitNumber: Math.max(2, Math.floor(width / 100)), axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, showMaxLabel: false } }),
    yAxis: valueAxis(look, "resident memory", scale, 290, { nameGap: 48 }, true),
    tooltip: {
      trigger: "axis",
      formatter: (hits: { dataIndex: number; seriesName: string }[]) => {
        const hit = hits.find((each) => each.seriesName === memoryName);
        const index = hit === undefined ? undefined : kept[hit.dataIndex];
        return index === undefined ? null : tooltip(`After iteration ${index + 1}`, [["memory", format("bytes", memory[index], 6)]]);
      },
    },
    series: [
      wedge(ends, memory.length, scale.unit.factor, look),
      {
        type: "line",
        name: memoryName,
        data: kept.map((index) => [index + 1, (memory[index] as number) / scale.unit.factor]),
        symbol: "circle",
        symbolSize: 4,
        showSymbol: kept.length < 400,
        lineStyle: { color: look.series(0).color, width: 1.5 },
        itemStyle: { color: look.series(0).color },
      },
      { type: "line", name: slopeName, data: slope, symbol: "triangle", symbolSize: 7, lineStyle: { color: look.bad, type: "dashed", width: 2 }, itemStyle: { color: look.bad }, z: 4 },
    ],
  };
}

// Between the lines of the interval's ends, as [from, memory there, low, high] in bytes.
function wedge(ends: number[][], until: number, factor: number, look: Look): Option {
  return marks(
    "Interval of the slope",
    ends,
    ([from = 0, start = 0]) => [from, start / factor],
    ([from = 0, start = 0, low = 0, high = 0], place) => {
      const at = (slope: number): number[] => {
        const { x, y } = place(until, (start + slope * (until - from)) / factor);
        return [x, y];
      };
      const tip = place(from, start / factor);
      return [{ type: "polygon", shape: { points: [[tip.x, tip.y], at(low), at(high)] }, style: { fill: look.bad, opacity: 0.2 } }];
    },
    null,
    { z: 1 },
  );
}

function leakTable(trials: Trial[], names: string[]): DataTable {
  return {
    columns: [{ title: "subject", numeric: false }, { title: "iteration", numeric: true }, { title: "memory after it, bytes", numeric: true }],
    rows: trials.flatMap((trial) => (trial.memory_after_iteration_bytes ?? []).map((bytes, index) => [names[trial.subject] ?? "", index + 1, bytes])),
  };
}
