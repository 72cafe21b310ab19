// The median of every process where it stood in the run: a machine that grows slower shows as a slope.
import type { Option } from "../echarts.ts";
import { count, format } from "../format.ts";
import type { Look } from "../look.ts";
import { shapes } from "../signs.ts";
import type { ChartPicture, Control, DataTable, Picture } from "../picture.ts";
import { axis, tooltip } from "../picture.ts";
import { badge, marks } from "./marks.ts";
import { isWide, scaleControl, scaleOf, valueAxis } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { disturbances, leftOut, mostSubjects, quantile, sentences, subjectControl } from "./trials.ts";
import type { Measured } from "./trials.ts";

interface Ran {
  subject: number;
  process: number;
  position: number;
  n: number;
  p50_s: number;
  disturbed: string[];
}

function ranOf(m: Measured): Ran[] {
  const figures = m.figures;
  if (figures === null) return [];
  const disturbed = new Map(m.run.trials.map((trial) => [`${trial.subject} ${trial.process}`, disturbances(trial)]));
  return figures.distributions.flatMap((of) =>
    of.processes.flatMap((each) => {
      const p50_s = quantile(figures.process_levels, each.quantiles_s, 0.5);
      return p50_s === null ? [] : [{ subject: of.subject, process: each.process, position: each.position, n: each.n, p50_s, disturbed: disturbed.get(`${of.subject} ${each.process}`) ?? [] }];
    }),
  );
}

export function orderOfRun(m: Measured): Picture[] {
  const all = ranOf(m);
  const subjects = [...new Set(all.map((each) => each.subject))];
  if (all.length <= subjects.length || all.length < 3) return [];
  let subject: number | null = null;
  let log = isWide(all.map((each) => each.p50_s));
  const drawn = subjects.slice(0, mostSubjects);
  const shown = (): Ran[] => all.filter((each) => (subject === null ? drawn.includes(each.subject) : each.subject === subject));
  const controls: Control[] = [];
  if (subjects.length > 1) controls.push(subjectControl(subjects, m.names, "All subjects", (chosen) => (subject = chosen)));
  if (log) controls.push(scaleControl((chosen) => (log = chosen)));
  const picture: ChartPicture = {
    kind: "chart",
    id: "order",
    title: "Median latency of every process, in the order in which they ran",
    short: "Order of the run",
    reads: "A line joins the processes of one subject. A slope or a step common to all is the machine's; a warning sign marks a process that something disturbed.",
    note: () => notes(shown(), subject === null ? leftOut(drawn.length, subjects.length) : ""),
    controls,
    data: () => table(all, m.names),
    height: (width) => (width < 620 ? 300 : 340),
    option: (look, width) => option(shown(), m.names, log, look, width),
    legend: (look) => [...new Set(shown().map((each) => each.subject))].map((each) => ({ name: m.names[each] ?? "", look: look.series(each) })),
  };
  return [picture];
}

function notes(shown: Ran[], left: string): string {
  const disturbed = shown.filter((each) => each.disturbed.length > 0).length;
  return sentences(disturbed > 0 ? `${disturbed} of ${count(shown.length, "process was", "processes were")} disturbed.` : "", left);
}

function option(shown: Ran[], names: string[], log: boolean, look: Look, width: number): Option {
  const scale = scaleOf("s", shown.map((each) => each.p50_s), { log });
  const subjects = [...new Set(shown.map((each) => each.subject))];
  const last = Math.max(...shown.map((each) => each.position));
  return {
    grid: { left: 60, right: 16, top: 20, bottom: 48 },
    xAxis: axis(look, "position in the run", { type: "value", min: 0, max: last + 2, minInterval: 1, axisLabel: { color: look.muted, fontSize: 12, showMaxLabel: false }, splitNumber: Math.floor(width / 90), splitLine: { show: false }, axisLine: { onZero: false, lineStyle: { color: look.line } } }),
    yAxis: valueAxis(look, "median latency", scale, 300, { nameGap: 42 }, true),
    tooltip: { trigger: "item" },
    series: subjects.flatMap((subject) => lineOf(shown.filter((each) => each.subject === subject), names[subject] ?? "", scale, look)),
  };
}

function lineOf(ran: Ran[], name: string, scale: Scale, look: Look): Option[] {
  const inOrder = [...ran].sort((a, b) => a.position - b.position);
  const own = look.series(ran[0]?.subject ?? 0);
  const at = (each: Ran): [number, number] => [each.position + 1, each.p50_s / scale.unit.factor];
  const tip = (each: Ran): HTMLElement =>
    tooltip(`${name}, process ${each.process + 1}`, [
      ["median", format("s", each.p50_s, 5)],
      ["n", count(each.n, "iteration", "iterations")],
      ["position", String(each.position + 1)],
      ...each.disturbed.map((words): [string, string] => ["disturbed", words]),
    ]);
  return [
    {
      type: "line",
      name,
      data: inOrder.map(at),
      symbol: own.symbol,
      symbolSize: 7,
      showAllSymbol: true,
      lineStyle: { color: own.color, width: 1, opacity: 0.5, type: own.dash },
      itemStyle: { color: own.color },
      tooltip: { formatter: (hit: { dataIndex: number }) => tip(inOrder[hit.dataIndex] as Ran) },
      z: 2,
    },
    marks(
      name,
      inOrder.filter((each) => each.disturbed.length > 0),
      at,
      (each, place) => {
        const { x, y } = place(...at(each));
        return [badge(shapes.warning, x, y - 12, 13, { fill: look.warning })];
      },
      tip,
      { z: 4, clip: false },
    ),
  ];
}

function table(all: Ran[], names: string[]): DataTable {
  return {
    columns: [
      { title: "position", numeric: true },
      { title: "subject", numeric: false },
      { title: "process", numeric: true },
      { title: "median latency, s", numeric: true },
      { title: "iterations", numeric: true },
      { title: "disturbed", numeric: false },
    ],
    rows: [...all].sort((a, b) => a.position - b.position).map((each) => [each.position + 1, names[each.subject] ?? "", each.process + 1, each.p50_s, each.n, each.disturbed.join("; ")]),
  };
}
