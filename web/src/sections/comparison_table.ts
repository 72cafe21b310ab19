// Comparisons in pairs: what changed from the baseline to each candidate, and how sure that is.
import type { Comparison, Direction, ExploratoryComparison, PrimaryComparison, Run, Tone } from "../document.ts";
import { directionWord } from "../pictures/effects.ts";
import { count, givenPercent, MISSING, probability } from "../format.ts";
import { grid } from "./grid.ts";
import type { Column, Measure } from "./grid_model.ts";
import { subjectLabels, wordsOf } from "./subjects.ts";

export interface ComparisonRow {
  comparison: PrimaryComparison | ExploratoryComparison;
  direction: Direction;
  decides: boolean; // else it is exploratory
  baseline: string;
  candidate: string;
}

export function comparisonRows(run: Run, comparison: Comparison): ComparisonRow[] {
  const labels = subjectLabels(run);
  const row = (each: ComparisonRow["comparison"], decides: boolean): ComparisonRow => ({
    comparison: each,
    direction: each.direction,
    decides,
    baseline: labels[each.baseline] ?? "",
    candidate: labels[each.candidate] ?? "",
  });
  return [...comparison.primary.map((each) => row(each, true)), ...comparison.exploratory.map((each) => row(each, false))];
}

// Positive is worse in the document; here a change is of the metric's own value, as a share of the baseline's.
export function changeOf(comparison: PrimaryComparison | ExploratoryComparison): Measure {
  const { estimate, interval, lower_is_better: lower } = comparison;
  const change = (effect: number): number => Math.expm1(lower ? effect : -effect);
  if (estimate === null) return { value: null, note: "there is no whole pair" };
  const ends = interval === null ? null : [change(interval.low), change(interval.high)].sort((a, b) => a - b);
  return {
    value: change(estimate),
    interval: ends === null ? null : { low: ends[0] as number, high: ends[1] as number },
    note: interval === null ? "too few pairs for an interval" : "",
  };
}

const tones: Record<Direction, Tone> = { faster: "good", slower: "warning", equivalent: "plain", unresolved: "faint" };

export function verdictOf({ direction, comparison }: ComparisonRow): [string, Tone] {
  return [directionWord(direction, comparison.metric), tones[direction]];
}

const whole = (row: ComparisonRow["comparison"]): number => (row.pairs > 0 ? row.pairs : Math.min(row.baseline_processes, row.candidate_processes));

function columns(all: boolean, paired: boolean): Column<ComparisonRow>[] {
  const shown: Column<ComparisonRow>[] = [
    { kind: "text", id: "candidate", title: "candidate", text: (row) => row.candidate, ...(all ? {} : { sub: (row: ComparisonRow) => `against ${row.baseline}` }) },
    { kind: "text", id: "metric", title: "metric", text: (row) => wordsOf(row.comparison.metric), sub: (row) => (row.decides ? "decides" : "exploratory") },
    { kind: "text", id: "verdict", title: "verdict", text: (row) => verdictOf(row)[0], tone: (row) => verdictOf(row)[1] },
    {
      kind: "number", id: "change", title: "change", quantity: "share", signed: true,
      about: "Of the metric, from the baseline to the candidate, with the interval at the level that the comparison decides at.",
      measure: (row) => changeOf(row.comparison),
    },
    {
      kind: "number", id: "p", title: "p", quantity: "plain", show: probability,
      about: "Of exploratory comparisons adjusted after Benjamini and Hochberg.",
      measure: (row) => ({ value: whole(row.comparison) > 0 ? row.comparison.p : null }),
    },
    {
      kind: "number", id: "pairs", title: paired ? "pairs" : "processes", quantity: "count",
      measure: ({ comparison: c }) => ({
        value: paired ? c.pairs : c.candidate_processes,
        sub: [paired ? "" : `against ${c.baseline_processes}`, c.incomplete > 0 ? `${c.incomplete} incomplete` : "", c.dropped > 0 ? `${c.dropped} dropped` : ""].filter((each) => each !== "").join(", "),
      }),
    },
    {
      kind: "number", id: "detectable", title: "detectable", quantity: "share",
      about: "The smallest difference that this number of pairs detects with 80 % power.",
      measure: ({ comparison: c }) => ({
        value: c.minimum_effect === null ? null : Math.expm1(c.minimum_effect),
        sub: c.more_pairs === null ? "" : `${count(c.more_pairs, "more pair", "more pairs")} would settle it`,
      }),
    },
  ];
  return paired ? shown : shown.filter((column) => column.id !== "detectable"); // which is what pairs can show
}

function caption(run: Run, paired: boolean, baselines: Set<string>): string {
  const [before, after] = run.joined;
  if (!paired && before !== undefined && after !== undefined) return `Run ${after.id} against run ${before.id}, process by process`;
  return baselines.size === 1 ? `Comparisons with ${[...baselines][0]}, pair by pair` : "Comparisons, pair by pair";
}

export function comparisonTable(run: Run): HTMLElement | null {
  const comparison = run.comparison;
  if (comparison === null) return null;
  const rows = comparisonRows(run, comparison);
  if (rows.length === 0) return null;
  const baselines = new Set(rows.map((row) => row.baseline));
  const question = run.plan.question;
  const margin = question === null ? MISSING : givenPercent(question.margin);
  return grid({
    caption: caption(run, comparison.paired, baselines),
    columns: columns(baselines.size === 1, comparison.paired),
    rows,
    legend: `Margin: differences below ${margin} are ignored. Alpha: ${question === null ? MISSING : givenPercent(question.alpha)}.`,
  });
}
