// The figures of a run: subjects by metrics, against a baseline that readers choose.
import type { Run, RunFigures } from "../document.ts";
import { el, visible } from "../dom.ts";
import { Grid } from "./grid.ts";
import { groupings, runColumns, shownAtFirst } from "./run_columns.ts";
import type { BaselineChoice } from "./run_columns.ts";
import { choose as keep, chosenFor, onAddress } from "../state.ts";
import type { SubjectRow } from "./subjects.ts";
import { subjectRows } from "./subjects.ts";

export function runTable(run: Run, figures: RunFigures | null, part: string): HTMLElement | null {
  const rows = subjectRows(run);
  if (rows.length === 0) return null;
  const choice: BaselineChoice = { chosen: null };
  const columns = runColumns(rows, figures, choice);
  const shown = shownAtFirst(columns, rows);
  const confidence = rows.flatMap((row) => Object.values(row.summary.metrics)).find((metric) => metric.interval !== null)?.interval?.confidence;
  const select = baselineSelect(part, rows, columns.some((column) => column.id === "speed_up"), (chosen) => {
    choice.chosen = chosen;
    table.refresh();
  });
  const table = new Grid({
    caption: "Subjects and their figures",
    columns,
    rows,
    off: new Set(columns.map((column) => column.id).filter((id) => !shown.has(id))),
    groupings,
    grouped: "model",
    controls: select === null ? [] : [select],
    linked: { part, subject: (row) => row.index },
    mark: (row) => (row.failure === "" ? undefined : "failed"),
    ...(confidence === undefined ? {} : { legend: `[low, high]: ${Math.round(confidence * 100)} % intervals over worker processes.` }),
  });
  return table.element;
}

function baselineSelect(part: string, rows: SubjectRow[], compared: boolean, choose: (chosen: number | null) => void): HTMLElement | null {
  if (!compared || rows.length < 2) return null;
  const groups = new Map<string, SubjectRow[]>();
  for (const row of rows) groups.set(String(row.summary.group), [...(groups.get(String(row.summary.group)) ?? []), row]);
  const select = el("select", {
    onchange: () => {
      keep(`${part}.baseline`, select.value === "" ? null : select.value);
      choose(select.value === "" ? null : Number(select.value));
    },
  });
  const read = (): void => {
    const chosen = chosenFor(`${part}.baseline`);
    select.value = rows.some((row) => String(row.index) === chosen) ? (chosen ?? "") : "";
    choose(select.value === "" ? null : Number(select.value));
  };
  select.append(el("option", { value: "" }, groups.size > 1 ? "the first of each group" : "the run's own"));
  for (const members of groups.values()) {
    if (members.length < 2) continue;
    const options = members.map((row) => el("option", { value: row.index }, visible(row.label)));
    const [first] = members;
    const title = first === undefined ? "" : `${visible(first.summary.model)}, batch size ${first.summary.batch_size}`;
    if (groups.size > 1) select.append(el("optgroup", { label: title }, ...options));
    else select.append(...options);
  }
  window.queueMicrotask(read); // when there is a table
  onAddress(read);
  return el("label", {}, "Baseline ", select);
}
