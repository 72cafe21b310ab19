// A history: the series that were looked at, where they changed, and the command that confirms an alarm.
import type { History } from "../document.ts";
import { el, name } from "../dom.ts";
import { probability, quantityOf, when } from "../format.ts";
import { commandLine } from "./commands.ts";
import { grid } from "./grid.ts";
import type { Column } from "./grid_model.ts";
import { wordsOf } from "./subjects.ts";

type Series = History["series"][number];
type Change = Series["changes"][number];

export function historyTables(history: History): HTMLElement[] {
  return [seriesTable(history), changesTable(history), levelsTable(history), ...alarms(history)].filter((each): each is HTMLElement => each !== null);
}

function nameOf(history: History, series: Series): string {
  return history.machines.length > 1 ? `${series.series} on ${machineOf(history, series.machine)}` : series.series;
}

function machineOf(history: History, machine: string): string {
  return history.machines.find((each) => each.machine === machine)?.hostname ?? machine;
}

function stateOf(series: Series): [string, "bad" | "warning" | "faint" | "good"] {
  if (series.alarm !== null) return ["alarm", "bad"];
  if (series.too_few) return ["too few runs", "faint"];
  return series.changes.length > 0 ? ["changed", "warning"] : ["steady", "good"];
}

function seriesTable(history: History): HTMLElement | null {
  if (history.series.length === 0) return null;
  const columns: Column<Series>[] = [
    { kind: "text", id: "series", title: "series", text: (row) => nameOf(history, row) },
    { kind: "text", id: "state", title: "state", text: (row) => stateOf(row)[0], tone: (row) => stateOf(row)[1] },
    { kind: "number", id: "runs", title: "runs", quantity: "count", measure: (row) => ({ value: row.runs, sub: row.left_out > 0 ? `${row.left_out} left out` : "" }) },
    { kind: "text", id: "first", title: "first", text: (row) => when(row.first_at ?? ""), order: (row) => row.first_at },
    { kind: "text", id: "last", title: "last", text: (row) => when(row.last_at ?? ""), order: (row) => row.last_at },
    { kind: "number", id: "value", title: `last ${wordsOf(history.metric)}`, quantity: quantityOf(history.unit), measure: (row) => lastOf(row) },
    { kind: "number", id: "changes", title: "changes", quantity: "count", measure: (row) => ({ value: row.changes.length }) },
  ];
  const hidden = history.hidden_runs > 0 ? ` ${history.hidden_runs} runs of other machines are not shown.` : "";
  return grid({ caption: `Series of ${wordsOf(history.metric)}`, columns, rows: history.series, ...(hidden === "" ? {} : { legend: hidden.trim() }) });
}

// The last run's interval, where the document has the runs.
function lastOf(series: Series): { value: number | null; interval: { low: number; high: number } | null } {
  const last = series.values?.at(-1);
  const known = last !== undefined && last.value === series.last_value && last.low !== null && last.high !== null;
  return { value: series.last_value, interval: known ? { low: last.low as number, high: last.high as number } : null };
}

function contextOf(change: Change): string {
  return change.context
    .map((each) => `${wordsOf(each.what)}: ${each.before.slice(0, 12)} → ${each.after.slice(0, 12)}${each.runs_off === 0 ? "" : ` (${Math.abs(each.runs_off)} ${each.runs_off > 0 ? "later" : "earlier"})`}`)
    .join("; ");
}

function changesTable(history: History): HTMLElement | null {
  const rows = history.series.flatMap((series) => series.changes.map((change) => ({ series, change })));
  if (rows.length === 0) return null;
  const columns: Column<(typeof rows)[number]>[] = [
    { kind: "text", id: "series", title: "series", text: ({ series }) => nameOf(history, series) },
    { kind: "text", id: "since", title: "since", text: ({ change }) => when(change.at), order: ({ change }) => change.at },
    { kind: "text", id: "verdict", title: "verdict", text: ({ change }) => (change.worse ? "worse" : "better"), tone: ({ change }) => (change.worse ? "warning" : "good") },
    { kind: "number", id: "change", title: "change", quantity: "share", signed: true, measure: ({ change }) => ({ value: change.change }) },
    { kind: "number", id: "p", title: "p", quantity: "plain", show: probability, measure: ({ change }) => ({ value: change.by_e_divisive ? change.p : null }), about: "Of E-divisive's permutation test." },
    { kind: "number", id: "t", title: "|t|", quantity: "plain", measure: ({ change }) => ({ value: change.by_scan ? change.statistic : null }), about: "Of the scan for levels." },
    { kind: "text", id: "run", title: "run", text: ({ change }) => change.run, code: true },
    { kind: "text", id: "context", title: "what else changed", text: ({ change }) => contextOf(change) },
  ];
  return grid({ caption: "Changes", columns, rows });
}

function levelsTable(history: History): HTMLElement | null {
  const rows = history.series.flatMap((series) => series.levels.map((level) => ({ series, level })));
  if (rows.length === 0) return null;
  const columns: Column<(typeof rows)[number]>[] = [
    { kind: "text", id: "series", title: "series", text: ({ series }) => nameOf(history, series) },
    { kind: "text", id: "from", title: "first run", text: ({ level }) => level.first_run, code: true },
    { kind: "text", id: "to", title: "last run", text: ({ level }) => level.last_run, code: true },
    { kind: "number", id: "runs", title: "runs", quantity: "count", measure: ({ level }) => ({ value: level.runs }) },
    { kind: "number", id: "value", title: "level", quantity: quantityOf(history.unit), about: "Geometric mean of its runs.", measure: ({ level }) => ({ value: level.value }) },
    { kind: "number", id: "spread", title: "spread", quantity: "share", about: "Standard deviation of the logarithms of its runs.", measure: ({ level }) => ({ value: level.sd_log }) },
  ];
  return grid({ caption: "Levels between changes", columns, rows });
}

function alarms(history: History): HTMLElement[] {
  return history.series.flatMap((series) => {
    if (series.alarm === null) return [];
    const { confirm, why_not: whyNot, run } = series.alarm;
    return [
      el(
        "div",
        { class: "alarm" },
        el("p", {}, "To confirm the alarm of ", name(nameOf(history, series)), " since run ", name(run), confirm === null ? ": " : ", compare the two:", confirm === null ? name(whyNot ?? "there is no command for it") : null),
        confirm === null ? null : commandLine(confirm, "the command that confirms it"),
      ),
    ];
  });
}
