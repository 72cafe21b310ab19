// A race of settings: what was tried, where each stands, and why it was left behind.
import type { Run, RunSubject, Tone, TunedSetting } from "../document.ts";
import { givenPercent, quantityOf } from "../format.ts";
import { grid } from "./grid.ts";
import type { Column, Measure } from "./grid_model.ts";
import { subjectLabels, wordsOf } from "./subjects.ts";

export interface TuningRow {
  setting: TunedSetting;
  subject: RunSubject;
  label: string;
  lower: boolean;
  decided: boolean;
}

const order: TunedSetting["fate"][] = ["best", "equal", "open", "worse", "halved", "bound", "outputs", "load", "failed", "not_raced"];
const words: Record<TunedSetting["fate"], string> = {
  best: "best", equal: "as good", open: "undecided", worse: "worse", halved: "left behind before the race", bound: "beyond a constraint",
  outputs: "other outputs", load: "load too high", failed: "failed", not_raced: "not raced",
};
const tones: Partial<Record<TunedSetting["fate"], Tone>> = { best: "good", equal: "good", open: "faint", bound: "warning", outputs: "warning", load: "warning", failed: "bad", worse: "faint", halved: "faint" };

export function behind({ setting, lower }: TuningRow): Measure {
  if (setting.fate === "best") return { value: null, instead: "best" };
  const change = (difference: number): number => Math.expm1(lower ? difference : -difference);
  if (setting.behind === null) return { value: null };
  const ends = setting.behind_interval === null ? null : [change(setting.behind_interval.low), change(setting.behind_interval.high)].sort((a, b) => a - b);
  return { value: change(setting.behind), interval: ends === null ? null : { low: ends[0] as number, high: ends[1] as number } };
}

// Where it stands, in words.
export function standing({ setting: { fate }, decided }: TuningRow): [string, Tone | null] {
  return [fate === "best" && !decided ? "leads" : words[fate], tones[fate] ?? null];
}

const figure = (row: TuningRow, name: string): Measure => {
  const metric = row.subject.metrics[name];
  return { value: metric?.value ?? null, interval: metric?.interval };
};

// Figures that the table shows anyway.
const usual = ["latency_p50", "throughput", "memory_peak", "peak_memory"];

// The objective where it is none of the usual figures: another one of times, or one of a load.
function objectiveColumn(objective: string, unit: string): Column<TuningRow>[] {
  if (usual.includes(objective)) return [];
  const measure = ({ subject }: TuningRow): Measure => {
    const ofLoad = subject.load?.figures[objective];
    const counted = subject.load == null ? subject.counters.find((each) => each.name === objective) : undefined;
    const found = subject.metrics[objective] ?? (ofLoad?.holds === true ? ofLoad : counted);
    return { value: found?.value ?? null, interval: found?.interval, note: ofLoad?.note };
  };
  return [{ kind: "number", id: "objective", title: wordsOf(objective), quantity: quantityOf(unit), measure }];
}

export function tuningColumns(objective: string, unit: string): Column<TuningRow>[] {
  return [
    { kind: "text", id: "setting", title: "setting", text: (row) => row.label, sub: (row) => (row.setting.on_front ? "on the Pareto front" : "") },
    {
      kind: "text", id: "standing", title: "standing",
      text: (row) => standing(row)[0],
      tone: (row) => standing(row)[1],
      sub: (row) => row.setting.reason,
    },
    {
      kind: "number", id: "behind", title: `${wordsOf(objective)} against the best`, quantity: "share", signed: true,
      about: "In the blocks that both ran in, with Student's interval. The best of many looks better than it is; the fresh pairs among the answers do not.",
      measure: behind,
    },
    ...objectiveColumn(objective, unit),
    { kind: "number", id: "latency", title: "latency p50", quantity: "s", measure: (row) => figure(row, "latency_p50") },
    { kind: "number", id: "throughput", title: "throughput", quantity: "items/s", measure: (row) => figure(row, "throughput") },
    { kind: "number", id: "memory", title: "memory", quantity: "bytes", measure: (row) => figure(row, "memory_peak") },
    { kind: "number", id: "blocks", title: "blocks", quantity: "count", about: "Of the race that it took part in.", measure: (row) => ({ value: row.setting.blocks }) },
  ];
}

// The best one first.
export function tuningRows(run: Run): TuningRow[] {
  const { tuning, plan } = run;
  const asked = plan.tuning;
  if (tuning === null || asked === null) return [];
  const labels = subjectLabels(run);
  const rows = tuning.settings.flatMap((setting): TuningRow[] => {
    const subject = run.subjects[setting.subject];
    return subject === undefined ? [] : [{ setting, subject, label: labels[setting.subject] ?? "", lower: tuning.lower_is_better, decided: tuning.decided }];
  });
  return rows.sort((a, b) => order.indexOf(a.setting.fate) - order.indexOf(b.setting.fate) || (a.setting.behind ?? Infinity) - (b.setting.behind ?? Infinity));
}

export function tuningTable(run: Run): HTMLElement | null {
  const asked = run.plan.tuning;
  const rows = tuningRows(run);
  if (asked === null || rows.length === 0) return null;
  const left = asked.left_out.map(({ setting, reason }) => ` Left out before anything ran: ${setting}: ${reason}.`).join("");
  const within = asked.constraints.length === 0 ? "" : `, ${asked.constraints.join(", ")}`;
  return grid({
    caption: `Settings, by ${wordsOf(asked.objective)}${within}`,
    columns: tuningColumns(asked.objective, run.tuning?.unit ?? ""),
    rows,
    legend: `Differences within ${givenPercent(asked.indifference)} count as none. Alpha of the whole race: ${givenPercent(asked.alpha)}.${left}`,
  });
}
