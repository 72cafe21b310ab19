// How a time goes with a number of tokens: from one token to the next by the position in the answer (does it grow with
// the context?), and to the first token by the length of the prompt.
import type { CoursePoint, CourseTime, GenerationCourse } from "../document.ts";
import type { Option } from "../echarts.ts";
import { count, interval, signed, unitFor } from "../format.ts";
import type { Look } from "../look.ts";
import { axis as plainAxis, tooltip } from "../picture.ts";
import type { ChartPicture, Picture } from "../picture.ts";
import { marks, whisker } from "./marks.ts";
import { estimateRows } from "./metric.ts";
import { choice } from "./profiled.ts";
import { ends, linearTicks, scaleOf, tickText, valueAxis } from "./scale.ts";
import { leftOut, mostSubjects, sentences } from "./trials.ts";
import type { Measured } from "./trials.ts";

type Line = GenerationCourse["subjects"][number];
type Level = "p50_s" | "p90_s";

const words: Record<GenerationCourse["time"], { id: string; title: string; short: string; axis: string; along: string; of: [string, string]; reads: string }> = {
  itl: {
    id: "generation-itl-position", title: "Time between two tokens by position in the answer", short: "ITL by position", axis: "ITL", along: "tokens of the answer before it", of: ["gap", "gaps"],
    reads: "A line that rises: each further token costs more, as there is more context to attend to. A level line: the context costs nothing that can be seen. A step is where a buffer or a cache was made larger.",
  },
  ttft: {
    id: "generation-ttft-prompt", title: "Time to the first token by length of the prompt", short: "TTFT by prompt", axis: "TTFT", along: "tokens of the prompt", of: ["answer", "answers"],
    reads: "How much a longer prompt costs before the first token comes. A straight line: each token costs the same. A line that turns up: attention, which costs more the longer the prompt is. Of a load waiting counts, too.",
  },
};

export function coursePictures(m: Measured): Picture[] {
  const drawn = new Set(m.subjects.map((each) => each.index));
  return (m.figures?.courses ?? []).flatMap(({ time, subjects }) => {
    const lines = subjects.filter(({ subject }) => drawn.has(subject));
    return lines.some(({ points }) => points.length > 1) ? [picture(m, time, lines)] : [];
  });
}

// "+0.120 ms [0.100, 0.140] per 1,000 tokens"; where the interval has both signs, that no growth is seen.
export function growthText({ value, interval: range }: CourseTime): string {
  if (value === null) return "";
  const all = [value, range?.low ?? 0, range?.high ?? 0].map((each) => each * 1000);
  const unit = unitFor("s", Math.max(...all.map(Math.abs)));
  const between = range === null ? "" : ` ${interval(all[1] as number, all[2] as number, unit)}`;
  const text = `${signed((all[0] as number) / unit.factor)} ${unit.name}${between} per 1,000 tokens`;
  return range !== null && range.low <= 0 && range.high >= 0 ? `no growth seen, ${text}` : text;
}

// Where a point stands, and what it stands for.
const tokens = ({ first, last }: CoursePoint): string => (first === last ? String(first) : `${first} to ${last}`);

// The values, and those ends of intervals that are not far from them: of two processes one may be a hundred times as wide.
function within(times: CourseTime[]): number[] {
  const values = times.flatMap(({ value }) => (value === null ? [] : [value]));
  const [low, high] = ends(values);
  return [...values, ...times.flatMap(({ interval: range }) => (range === null ? [] : [range.low, range.high])).filter((end) => end > low / 2 && end < high * 2)];
}

function picture(m: Measured, time: GenerationCourse["time"], lines: Line[]): ChartPicture {
  const word = words[time];
  const shown = lines.slice(0, mostSubjects);
  const nameOf = (line: Line): string => m.names[line.subject] ?? "";
  const has = (level: Level): boolean => lines.some(({ points }) => points.filter((point) => point[level].value !== null).length > 1);
  let level: Level = "p50_s";
  return {
    kind: "chart",
    id: word.id,
    short: word.short,
    title: word.title,
    reads: `${word.reads} Points are the mean of the processes' values, whiskers its interval; from 16 tokens on a point stands for several numbers of tokens.`,
    note: () => sentences(...shown.flatMap((line) => (line.growth_s.value === null ? [] : [`${nameOf(line)}: ${growthText(line.growth_s)}.`])), leftOut(shown.length, lines.length)),
    ...(has("p90_s") ? { controls: [choice("Of the times", [["p50_s", "median"], ["p90_s", "p90"]], (value) => (level = value as Level))] } : {}),
    data: () => ({
      columns: [
        { title: "subject", numeric: false },
        ...["tokens from", "to", "mean tokens", "p50, s", "low", "high", "p90, s", "low", "high", word.of[1]].map((title) => ({ title, numeric: true })),
      ],
      rows: lines.flatMap((line) => line.points.map((point) => [nameOf(line), point.first, point.last, point.tokens_mean, ...values(point.p50_s), ...values(point.p90_s), point.n])),
    }),
    height: () => 320,
    option: (look, width) => option(look, width),
    legend: (look) => shown.map((line) => ({ name: nameOf(line), look: look.series(line.subject) })),
  };

  function values({ value, interval: range }: CourseTime): (number | null)[] {
    return [value, range?.low ?? null, range?.high ?? null];
  }

  function option(look: Look, width: number): Option {
    const there = shown.map((line) => line.points.filter((point) => point[level].value !== null));
    const scale = scaleOf("s", within(there.flat().map((point) => point[level])));
    const most = Math.max(...there.flat().map((point) => point.tokens_mean), 1);
    const ticks = linearTicks(0, most, Math.max(3, Math.floor((width - 80) / 80)));
    return {
      grid: { left: 62, right: 18, top: 16, bottom: 48 },
      xAxis: plainAxis(look, word.along, { type: "value", min: 0, max: most * 1.02, axisTick: { customValues: ticks, lineStyle: { color: look.line } }, axisLabel: { color: look.muted, fontSize: 12, hideOverlap: true, customValues: ticks, formatter: tickText } }),
      yAxis: valueAxis(look, level === "p50_s" ? `${word.axis}, median` : `${word.axis}, p90`, scale, 260, { nameGap: 44 }, true),
      tooltip: { trigger: "item" },
      series: shown.flatMap((line, index) => series(line, there[index] ?? [], scale.unit.factor, look)),
    };
  }

  function series(line: Line, points: CoursePoint[], factor: number, look: Look): Option[] {
    const own = look.series(line.subject);
    const name = nameOf(line);
    const tip = (point: CoursePoint): HTMLElement =>
      tooltip(name, [[word.along, tokens(point)], ...estimateRows(`${word.axis} ${level.slice(0, 3)}`, "s", point[level]), ["n", count(point.n, ...word.of)]]);
    return [
      {
        type: "line",
        name,
        symbol: own.symbol,
        symbolSize: 6,
        showAllSymbol: true,
        lineStyle: { color: own.color, type: own.dash, width: 1.8 },
        itemStyle: { color: own.color },
        data: points.map((point) => [point.tokens_mean, (point[level].value as number) / factor]),
        tooltip: { formatter: (hit: { dataIndex: number }) => tip(points[hit.dataIndex] as CoursePoint) },
        z: 3,
      },
      marks(
        name,
        points,
        (point) => [point.tokens_mean, (point[level].value as number) / factor],
        (point, place) => {
          const range = point[level].interval;
          const end = (value: number): ReturnType<typeof place> => place(point.tokens_mean, value / factor);
          return range === null ? [] : whisker("y", end(range.low), end(range.high), { stroke: own.color, lineWidth: 1, opacity: 0.35 }, 3);
        },
        null,
        { z: 2 },
      ),
    ];
  }
}
