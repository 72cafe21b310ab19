// Why one subject is slower or faster than its baseline: clauses with their share, and what they leave.
import type { ProfileExplanation, Run } from "../document.ts";
import { el, name, visible } from "../dom.ts";
import type { Child } from "../dom.ts";
import { differenceText } from "../flame/boxes.ts";
import type { Links } from "../flame/links.ts";
import { count, format, percent } from "../format.ts";
import { uniqueNames } from "../pictures/trials.ts";
import { badge } from "../signs.ts";

const causes = new Map<string, string>([
  ["other_precision", "other precision"],
  ["extra_conversions", "extra conversions"],
  ["lost_fusion", "lost fusion"],
  ["other_kernel", "other kernel"],
  ["other_layout", "other layout"],
  ["less_parallel", "less parallel"],
  ["between_operators", "between operators"],
  ["unknown", "cause not visible"],
]);

// `links`: a clause of which the graph has the operators is a button that shows them there.
export function explanations(run: Run, links: Links): HTMLElement | null {
  const all = run.profile?.explanations ?? [];
  if (all.length === 0) return null;
  const names = uniqueNames(run.subjects.map((subject) => subject.label));
  return el("div", { class: "block" }, ...all.map((why, index) => explanation(why, names, (clause) => links.clause?.(index, clause))));
}

function explanation(why: ProfileExplanation, names: string[], show: (clause: number) => void): HTMLElement {
  const [subject, baseline] = [names[why.subject] ?? "", names[why.baseline] ?? ""];
  const title = el("h4", {}, "Why ", name(subject), " differs from ", name(baseline));
  if (why.reason !== "") return el("div", { class: "explanation" }, title, el("p", {}, badge("not explained", "faint"), " ", name(why.reason)));
  const line = (...content: Child[]): HTMLElement => el("li", {}, ...content);
  const clauses = why.clauses.map((clause, index) =>
    line(
      badge(causes.get(clause.cause) ?? visible(clause.cause), clause.cause === "unknown" ? "faint" : "plain"),
      el("span", {}, sentence(clause.sentence, why.groups.length > 0 && clause.groups.length > 0 ? () => show(index) : null), ": ", el("strong", {}, differenceText(clause.mean_s, { low: clause.low_s, high: clause.high_s })), `, ${percent(clause.share)} of the difference`),
    ),
  );
  return el(
    "div",
    { class: "explanation" },
    title,
    el("p", {}, "Per inference ", el("strong", {}, differenceText(why.difference_s, { low: why.low_s, high: why.high_s })), ` in profiles (95 % interval over ${count(why.pairs, "pair", "pairs")} of processes${why.left_out > 0 ? `; ${count(why.left_out, "profile trial", "profile trials")} could not be used` : ""})${cleanText(why)}.`),
    why.consistent ? null : el("p", {}, badge("not explained", "warning"), " The profiles do not explain the difference that was measured without them."),
    why.clauses.length === 0 ? el("p", {}, badge("not explained", "faint"), " No operators differ beyond their noise.") : null,
    el("ul", { class: "clauses" }, ...clauses, line(badge("not separable", "faint"), el("span", {}, leftText(why)))),
  );
}

function sentence(text: string, show: (() => void) | null): HTMLElement {
  return show === null ? name(text) : el("button", { type: "button", class: "link", title: "Shows its operators in the graph below", onclick: show }, name(text));
}

function cleanText(why: ProfileExplanation): string {
  if (why.clean_difference_s === null) return "";
  const interval = why.clean_low_s === null || why.clean_high_s === null ? null : { low: why.clean_low_s, high: why.clean_high_s };
  return `; ${differenceText(why.clean_difference_s, interval)} between the p50 of the timed runs`;
}

// What is in no clause, so that all lines add up to the whole.
function leftText(why: ProfileExplanation): string {
  const named = new Set(why.clauses.flatMap((clause) => clause.groups));
  const left = why.groups.length - named.size;
  return `${count(left, "group", "groups")} of operators in no clause above: ${differenceText(why.not_separable_s, null)} ± ${format("s", why.not_separable_half_width_s)}`;
}
