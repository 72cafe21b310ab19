// How a metric went over runs: values with intervals, levels as steps, and where the level changed.
import type { History, HistoryRun, Part } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, format, interval, MISSING, percent, quantityOf, signed, unitFor, unitForAll, tick, when, withUnit } from "../format.ts";
import type { Quantity } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, LegendItem, Picture } from "../picture.ts";
import { shapes } from "../signs.ts";
import { badge, line, marks, whiskers } from "./marks.ts";

type Series = History["series"][number];
type Change = Series["changes"][number];

const labelWidth = 150; // of a change's words, at most
const most = 700; // runs whose intervals are drawn

export function historyPictures(part: Part): Picture[] {
  const history = part.history;
  if (history === null) return [];
  const inOrder = [...history.series].sort((a, b) => Number(b.alarm !== null) - Number(a.alarm !== null));
  return inOrder.flatMap((series, index) => (series.values === null || series.values.length === 0 ? [] : [picture(history, series, series.values, index)]));
}

function picture(history: History, series: Series, values: HistoryRun[], index: number): ChartPicture {
  const by = { label: "Along", choices: [{ value: "run", label: "runs" }, { value: "date", label: "dates" }], value: "run", change: () => undefined };
  const metric = visible(history.metric.replaceAll("_", " "));
  const quantity = quantityOf(history.unit);
  const machine = history.machines.find((each) => each.machine === series.machine);
  const where = history.machines.length > 1 ? `, on ${machine?.hostname ?? series.machine}` : "";
  const drawing = new Drawing(series, values, quantity, metric);
  return {
    kind: "chart",
    id: `history-${index + 1}`,
    title: `${series.series}: ${metric} over time${where}`,
    short: visible(series.series),
    reads:
      `A point is a run, its whisker the 95 % interval across worker processes; ${history.lower_is_better ? "lower" : "higher"} is better. ` +
      "A thick line is a level: the runs between two changes. The axis need not begin at 0.",
    note: () => left(series, values),
    controls: values.length > 1 ? [by] : [],
    height: () => 340,
    option: (look, width) => drawing.option(look, width, by.value === "date"),
    legend: (look) => legend(look, series),
    data: () => data(series, values, history.unit),
    press: (name, index) => name === "Runs" && openPage(index),
  };
}

// On a site (infermeter publish) the page has a link to the page of each run.
function openPage(index: number): void {
  document.querySelector<HTMLElement>(`a[data-run="${index}"]`)?.click();
}

function left(series: Series, values: HistoryRun[]): string {
  const sentences: string[] = [];
  if (series.too_few) sentences.push("Too few runs to look for changes.");
  if (series.disturbed > 0) sentences.push(`${count(series.disturbed, "run", "runs")} left out, disturbed by other work.`);
  if (series.left_out > 0) sentences.push(`${count(series.left_out, "run", "runs")} with a value of 0 left out.`);
  const without = values.filter((value) => value.low === null || value.high === null).length;
  if (without > 0) sentences.push(`${count(without, "run has", "runs have")} no interval: that takes two processes.`);
  if (values.length > most) sentences.push(`Intervals are drawn for up to ${most} runs; the data below has them all.`);
  return sentences.join(" ");
}

const words = (change: Change): string => `${signed(change.change * 100)} %, ${change.worse ? "worse" : "better"}`;

function legend(look: Look, series: Series): LegendItem[] {
  const items: LegendItem[] = [{ name: "Runs", look: look.series(0) }];
  if (series.levels.length > 0) items.push({ name: "Levels", look: { ...look.series(0), color: look.text, symbol: "rect" } });
  if (series.changes.length > 0) items.push({ name: "Changes", look: { color: look.muted, symbol: "diamond", dash: "dashed" } });
  return items;
}

class Drawing {
  constructor(
    private readonly series: Series,
    private readonly values: HistoryRun[],
    private readonly quantity: Quantity,
    private readonly metric: string,
  ) {}

  option(look: Look, width: number, dates: boolean): Option {
    const unit = unitForAll(this.quantity, this.values.map((value) => value.value));
    const at = (index: number): number => (dates ? Date.parse(this.values[index]?.at ?? "") : index + 1);
    const style = look.series(0);
    return {
      useUTC: true,
      grid: { left: 70, right: 20, top: this.series.changes.length === 0 ? 16 : 62, bottom: 48 },
      tooltip: { trigger: "item" },
      xAxis: axis(look, dates ? "date (UTC)" : "run, oldest first", {
        type: dates ? "time" : "value",
        boundaryGap: dates ? ["3%", "3%"] : false,
        ...(dates ? {} : { min: 0.5, max: this.values.length + 0.5, minInterval: 1 }),
        splitLine: { show: false },
        ...(dates ? {} : { axisLabel: { color: look.muted, fontSize: 12, formatter: (value: number) => (Number.isInteger(value) ? String(value) : "") } }),
      }),
      yAxis: axis(look, withUnit(`${this.metric},`, unit), {
        type: "value",
        scale: true,
        nameGap: 52,
        axisLabel: { color: look.muted, fontSize: 12, formatter: (value: number) => tick(value, unit) },
      }),
      series: [
        ...(this.values.length > most ? [] : [whiskers("Runs", style.color, "y", this.intervals(at))]),
        this.levels(look, at),
        {
          type: "scatter",
          name: "Runs",
          data: this.values.map((value, index) => [at(index), value.value]),
          symbol: style.symbol,
          symbolSize: this.values.length > 200 ? 4 : 7,
          itemStyle: { color: style.color },
          tooltip: { formatter: (hit: { dataIndex: number }) => this.runTip(hit.dataIndex) },
        },
        this.changes(look, width, at),
      ],
    };
  }

  private intervals(at: (index: number) => number): [number, number, number][] {
    return this.values.flatMap((value, index): [number, number, number][] =>
      value.low === null || value.high === null ? [] : [[at(index), value.low, value.high]],
    );
  }

  // A level reaches half a run to either side, or from its first date to its last.
  private levels(look: Look, at: (index: number) => number): Option {
    const index = new Map(this.values.map((value, i) => [value.run, i]));
    const reach = at(0) === 1 ? 0.4 : 0;
    const levels = this.series.levels.map((level) => ({
      level,
      from: at(index.get(level.first_run) ?? 0) - reach,
      to: at(index.get(level.last_run) ?? 0) + reach,
    }));
    return marks(
      "Levels",
      levels,
      (each) => [each.from, each.to, each.level.value],
      (each, place) => {
        const [from, to] = [place(each.from, each.level.value), place(each.to, each.level.value)];
        // A line without a fill is hit from a little farther.
        return [line(from.x, from.y, to.x, to.y, { stroke: look.text, opacity: 0.75, lineWidth: 2.5, fill: "none" })];
      },
      (each) => this.levelTip(each.level),
      { encode: { x: [0, 1], y: 2 } },
    );
  }

  // A line where the new level begins, on top of it a sign and words. Words that would lie on their neighbour's go a row
  // down.
  private changes(look: Look, width: number, at: (index: number) => number): Option {
    const range = at(this.values.length - 1) - at(0) || 1;
    let row = 0;
    const changes = this.series.changes.map((change, i) => {
      const before = this.series.changes[i - 1];
      const apart = before === undefined ? Infinity : ((at(change.index) - at(before.index)) / range) * (width - 90);
      row = apart < labelWidth ? (row + 1) % 3 : 0;
      return { change, row, x: at(change.index), y: this.values[change.index]?.value ?? 0 };
    });
    return marks(
      "Changes",
      changes,
      (each) => [each.x, each.y],
      (each, place, area) => {
        const { x } = place(each.x, each.y);
        if (x < area.x - 1 || x > area.x + area.width + 1) return [];
        const { worse } = each.change;
        const color = worse ? look.bad : look.good;
        const y = area.y - 50 + 18 * each.row;
        const turned = x + labelWidth > area.x + area.width + 20;
        const style = { text: words(each.change), fill: look.text, fontSize: 12, verticalAlign: "middle", align: turned ? "right" : "left" };
        return [
          line(x, y + 8, x, area.y + area.height, { stroke: color, lineWidth: 1, lineDash: [4, 3] }),
          badge(shapes[worse ? "bad" : "good"], x, y, 14, { fill: color }),
          { type: "text", x: turned ? x - 11 : x + 11, y, style },
        ];
      },
      (each) => this.changeTip(each.change),
      { clip: false },
    );
  }

  private runTip(index: number): HTMLElement {
    const run = this.values[index];
    if (run === undefined) return tooltip("", []);
    const unit = unitFor(this.quantity, run.value);
    const between = run.low === null || run.high === null ? MISSING : withUnit(interval(run.low, run.high, unit), unit);
    const version = (title: string, text: string | null): [string, string][] => (text === null ? [] : [[title, text.slice(0, 60)]]);
    return tooltip(run.run, [
      ["date", when(run.at)],
      ["label", run.label.slice(0, 60)],
      [this.metric, format(this.quantity, run.value)],
      ["95 % interval", between],
      ["processes", String(run.processes)],
      ...version("runtime", run.runtime_version),
      ...version("model (SHA-256)", run.model_sha256 === null ? null : run.model_sha256.slice(0, 12)),
      ...version("commit", run.git_commit === null ? null : run.git_commit.slice(0, 12)),
      ...version("infermeter", run.infermeter_version),
    ]);
  }

  private levelTip(level: Series["levels"][number]): HTMLElement {
    return tooltip("Level", [
      ["geometric mean", format(this.quantity, level.value)],
      ["runs", String(level.runs)],
      ["spread (1 sd)", percent(Math.expm1(level.sd_log))],
      ["first run", level.first_run],
      ["last run", level.last_run],
    ]);
  }

  private changeTip(change: Change): HTMLElement {
    const seen = [change.by_scan ? `scan for levels (|t| ${signed(change.statistic).replace("+", "")})` : "", change.by_e_divisive ? `E-divisive (p ${change.p})` : ""];
    return tooltip(words(change), [
      ["first run", change.run],
      ["date", when(change.at)],
      ["seen by", seen.filter((each) => each !== "").join(", ") || MISSING],
      ...change.context.map((each): [string, string] => [contextWords(each), `${shortened(each.before)} → ${shortened(each.after)}`]),
      ...(change.context.length === 0 ? ([["what else changed", "nothing that is recorded"]] as [string, string][]) : []),
    ]);
  }
}

function contextWords(context: Change["context"][number]): string {
  const when = context.runs_off === 0 ? "" : context.runs_off < 0 ? " (one run earlier)" : " (one run later)";
  return `${context.what.replaceAll("_", " ")}${when}`;
}

const shortened = (text: string): string => (/^[0-9a-f]{40,}$/.test(text) ? text.slice(0, 12) : text.slice(0, 40));

function data(series: Series, values: HistoryRun[], unit: string): DataTable {
  const starts = new Map(series.changes.map((change) => [change.index, change]));
  const levelAt = new Map(series.levels.map((level) => [level.first_run, level.value]));
  const numeric = (title: string): { title: string; numeric: boolean } => ({ title: unit === "" ? title : `${title}, ${unit}`, numeric: true });
  let level: number | null = null;
  return {
    columns: [
      { title: "run", numeric: false },
      { title: "date", numeric: false },
      { title: "label", numeric: false },
      numeric("value"),
      numeric("low"),
      numeric("high"),
      { title: "processes", numeric: true },
      numeric("level"),
      { title: "change, share", numeric: true },
      { title: "runtime version", numeric: false },
      { title: "model SHA-256", numeric: false },
      { title: "commit", numeric: false },
      { title: "infermeter version", numeric: false },
    ],
    rows: values.map((run, index) => {
      level = levelAt.get(run.run) ?? level;
      return [
        run.run, run.at, run.label, run.value, run.low, run.high, run.processes, level, starts.get(index)?.change ?? null,
        run.runtime_version, run.model_sha256, run.git_commit, run.infermeter_version,
      ];
    }),
  };
}
