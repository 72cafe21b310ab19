// What changed since the last run of the same subjects, and what else differs between the two.
import type { Run, SinceLast, Tone } from "../document.ts";
import { el, name, prose } from "../dom.ts";
import { count, when } from "../format.ts";
import { markIn, touch } from "../hover.ts";
import { effectText } from "../pictures/effects_chart.ts";
import { directionWord } from "../pictures/effects.ts";
import { scrolling } from "../scrolling.ts";
import { sign } from "../signs.ts";
import { subjectLabels } from "./subjects.ts";

const tones: Record<SinceLast["subjects"][number]["direction"], Tone> = { faster: "good", slower: "warning", equivalent: "good", unresolved: "faint" };

export function sinceLast(run: Run, since: SinceLast, part: string): HTMLElement {
  const labels = subjectLabels(run);
  const row = (each: SinceLast["subjects"][number]): HTMLElement => {
    const line = el(
      "tr",
      {},
      el("th", { scope: "row" }, name(labels[each.subject] ?? "")),
      el("td", {}, el("span", { class: "said" }, sign(tones[each.direction]), el("span", {}, each.direction === "equivalent" ? "same" : directionWord(each.direction, "latency_p50")))),
      el("td", { class: "number" }, effectText(each)),
    );
    touch(line, part, each.subject);
    return line;
  };
  const head = el("tr", {}, ...["subject", "latency p50", "change"].map((title) => el("th", { scope: "col" }, title)));
  const table = el("table", { class: "grid figures matrix", "aria-label": "Changes since the last run" }, el("thead", {}, head), el("tbody", {}, ...since.subjects.map(row)));
  markIn(table, part);
  const many = since.subjects.length > 6;
  const changes = scrolling(table, "Changes since the last run");
  return el(
    "div",
    { class: "stack" },
    el("p", { class: "note" }, `Against run ${since.run} of ${when(since.at)}; the two did not run side by side.`),
    many ? el("details", { class: "more" }, el("summary", {}, count(since.subjects.length, "subject", "subjects")), changes) : changes,
    since.differences.length === 0
      ? el("p", { class: "note" }, "Machine, software, models and settings are the same, as far as they are recorded.")
      : el("ul", { class: "said-list" }, ...since.differences.map((each) => el("li", {}, sign("warning"), el("span", {}, prose(each))))),
  );
}
