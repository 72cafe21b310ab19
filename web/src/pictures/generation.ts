// Answers that come piece by piece: how often which time to the first piece, between two pieces and per token occurred.
import type { GenerationTimes } from "../document.ts";
import type { Option } from "../echarts.ts";
import { count, format, percent } from "../format.ts";
import type { Look } from "../look.ts";
import { tooltip } from "../picture.ts";
import type { ChartPicture, Picture } from "../picture.ts";
import { scaleOf, valueAxis } from "./scale.ts";
import { leftOut, mostSubjects, sentences } from "./trials.ts";
import type { Measured } from "./trials.ts";

const times: Record<GenerationTimes["time"], { title: string; axis: string; of: [string, string] }> = {
  ttft: { title: "Time to the first token", axis: "TTFT", of: ["answer", "answers"] },
  itl: { title: "Time between two tokens", axis: "ITL", of: ["gap", "gaps"] },
  tpot: { title: "Time per output token", axis: "TPOT", of: ["answer", "answers"] },
};

export function generationPictures(m: Measured): Picture[] {
  const drawn = new Set(m.subjects.map((each) => each.index));
  return (m.figures?.generation ?? []).flatMap((each) => {
    const subjects = each.subjects.filter(({ subject }) => drawn.has(subject));
    return subjects.length === 0 ? [] : [picture(m, { ...each, subjects })];
  });
}

function picture(m: Measured, { time, log, edges_s, subjects }: GenerationTimes): ChartPicture {
  const { title, axis, of } = times[time];
  const shown = subjects.slice(0, mostSubjects);
  const nameOf = (subject: number): string => m.names[subject] ?? "";
  return {
    kind: "chart",
    id: `generation-${time}`,
    short: axis,
    title: `${title} (${axis})`,
    reads: `How many ${of[1]} took how long, all processes together: a step is as high as the share of them in its stretch of time. Several hills are several ways in which a server answers; what lies far to the right is its tail.`,
    note: () => sentences(...counts(), leftOut(shown.length, subjects.length)),
    data: () => ({
      columns: [
        { title: "subject", numeric: false },
        { title: "from, s", numeric: true },
        { title: "to, s", numeric: true },
        { title: `share of ${of[1]}`, numeric: true },
      ],
      rows: subjects.flatMap(({ subject, shares }) => shares.map((share, i) => [nameOf(subject), edges_s[i] ?? null, edges_s[i + 1] ?? null, share])),
    }),
    height: () => 300,
    option: (look, width) => option(look, width),
    legend: (look) => shown.map(({ subject }) => ({ name: nameOf(subject), look: look.series(subject) })),
  };

  function counts(): string[] {
    const all = new Set(shown.map(({ n }) => n));
    return all.size === 1 ? [`${count([...all][0] ?? 0, ...of)} of each.`] : shown.map(({ subject, n }) => `${nameOf(subject)}: ${count(n, ...of)}.`);
  }

  function option(look: Look, width: number): Option {
    const across = scaleOf("s", edges_s, { log });
    const up = scaleOf("share", shown.flatMap(({ shares }) => shares), { zero: true });
    const [x, y] = [(value: number): number => value / across.unit.factor, (value: number): number => value / up.unit.factor];
    const middle = (i: number): number => (log ? Math.sqrt((edges_s[i] ?? 0) * (edges_s[i + 1] ?? 0)) : ((edges_s[i] ?? 0) + (edges_s[i + 1] ?? 0)) / 2);
    return {
      grid: { left: 56, right: 18, top: 16, bottom: 48 },
      xAxis: valueAxis(look, axis, across, width - 74),
      yAxis: valueAxis(look, `share of ${of[1]}`, up, 240, { nameGap: 38 }, true),
      tooltip: { trigger: "item" },
      series: shown.flatMap(({ subject, n, shares }) => {
        const own = look.series(subject);
        const name = nameOf(subject);
        const full = shares.flatMap((share, i) => (share > 0 ? [i] : []));
        return [
          { type: "line", name, step: "end", symbol: "none", lineStyle: { color: own.color, type: own.dash, width: 1.8 }, itemStyle: { color: own.color }, data: [[edges_s[0] ?? 0, 0], ...edges_s.map((edge, i) => [edge, shares[i] ?? 0])].map(([edge, share]) => [x(edge as number), y(share as number)]) },
          {
            type: "scatter",
            name,
            symbol: own.symbol,
            symbolSize: 6,
            itemStyle: { color: own.color },
            data: full.map((i) => [x(middle(i)), y(shares[i] ?? 0)]),
            tooltip: {
              formatter: (hit: { dataIndex: number }) => {
                const i = full[hit.dataIndex] ?? 0;
                return tooltip(name, [[axis, `${format("s", edges_s[i], 4)} to ${format("s", edges_s[i + 1], 4)}`], ["share", percent(shares[i])], ["n", count(n, ...of)]]);
              },
            },
          },
        ];
      }),
    };
  }
}
