// The answer: one sentence, the chart that shows it, the caveat that matters most; then all answers, caveats and checks.
import type { Answer, Check, Notice, Part, Recommendations, Run, SinceLast } from "../document.ts";
import { el, name, prose } from "../dom.ts";
import { count } from "../format.ts";
import { heroOf } from "../pictures/hero.ts";
import { badge, sign, toneOfCheck, wordOfCheck } from "../signs.ts";
import { show } from "../views.ts";
import { gateTable } from "./gate_table.ts";
import { matrix, matrixOf } from "./matrix.ts";
import { noticeList, toneOfNotice } from "./notices.ts";
import { sinceLast } from "./since_last.ts";

const fewAnswers = 4;
const fewSubjects = 6;

export function answers(part: Part, id: string): (HTMLElement | null)[] {
  return [
    part.run === null ? null : unfinished(part.run),
    firstSight(part, id),
    matrix(part, id),
    otherAnswers(part),
    part.gate === null ? null : gateTable(part.gate),
    headed("Caveats", noticeList(part.notices), `${id}-caveats`),
    part.run === null || (part.overview.since_last ?? null) === null ? null : headed("Since the last run", sinceLast(part.run, part.overview.since_last as SinceLast, id)),
    headed("Per subject", recommendations(part.recommendations)),
    headed("Checklist", checklist(part.checks.filter((check) => part.gate?.verdicts.every((each) => each.expectation !== check.name) ?? true))),
  ];
}

function headed(title: string, content: HTMLElement | null, id?: string): HTMLElement | null {
  return content === null ? null : el("div", { class: "block", id }, el("h4", {}, title), content);
}

function firstSight(part: Part, id: string): HTMLElement {
  const { headline } = part.overview;
  const { pictures, isWide } = heroOf(part);
  const [first = "", ...rest] = headline.text.split(/(?<=; )(?![^(]*\))/);
  const sentence = el(
    "p",
    { class: `headline ${headline.tone}` },
    headline.verdict === "" ? sign(headline.tone) : badge(headline.verdict, headline.tone),
    " ",
    el("span", { class: "sentence" }, prose(first)),
    rest.length === 0 ? null : el("span", { class: "rest" }, " ", prose(rest.join(""))),
  );
  return el(
    "div",
    { class: pictures.length === 0 ? "first" : isWide ? "first wide" : "first beside" },
    el("div", { class: "told" }, sentence, caveat(part.notices, id), facts(part)),
    pictures.length === 0 ? null : el("div", { class: "shown" }, ...pictures.map((picture) => show(picture, id))),
  );
}

// The first error, else the first warning.
function caveat(notices: Notice[], id: string): HTMLElement | null {
  const [first] = notices;
  if (first === undefined || first.severity === "info") return null;
  const more = notices.filter((notice) => notice.severity !== "info").length - 1;
  return el(
    "p",
    { class: "caveat" },
    sign(toneOfNotice(first)),
    el(
      "span",
      {},
      name(first.messages[0] ?? first.id),
      first.remedy === "" ? null : el("span", { class: "remedy" }, " → ", name(first.remedy)),
      more === 0 ? null : el("span", {}, " ", el("a", { href: `#${id}-caveats` }, `${count(more, "more caveat", "more caveats")}`)),
    ),
  );
}

// What it stands on, in a line.
function facts(part: Part): HTMLElement | null {
  const run = part.run;
  if (run === null) return null;
  const processes = run.subjects.map((subject) => subject.trials_ok + subject.trials_partial);
  const [fewest, most] = [Math.min(...processes), Math.max(...processes)];
  const parts = [
    count(run.subjects.length, "subject", "subjects"),
    run.subjects.length === 0 ? "" : fewest === most ? `${count(most, "process", "processes")} each` : `${fewest} to ${most} processes each`,
    run.environment.processor,
  ];
  return el("p", { class: "note" }, name(parts.filter((each) => each !== "").join(" · ")));
}

function unfinished(run: Run): HTMLElement | null {
  if (run.finished) return null;
  const asked = run.plan.order.length;
  const of = asked > 0 ? ` of at most ${asked}` : "";
  return el(
    "p",
    { class: "unfinished" },
    badge("unfinished", "warning"),
    ` This run did not come to its end: the figures are of ${count(run.trials.length, "trial", "trials")}${of}.`,
  );
}

// Without the one that is the headline; many are folded, as the matrix has them.
function otherAnswers(part: Part): HTMLElement | null {
  // A gate's expectations have a table of their own.
  const inTable = (answer: Answer): boolean => part.gate !== null && (answer.topic === "gate" || answer.topic === "expectation");
  const rest = part.answers.filter((answer) => answer.text !== part.overview.headline.text && !inTable(answer));
  if (rest.length === 0) return null;
  const item = (answer: Answer): HTMLElement => el("li", { class: `answer ${answer.tone}` }, badge(answer.verdict, answer.tone), " ", el("span", { class: "sentence" }, prose(answer.text)));
  const list = el("ul", { class: "answer-list" }, ...rest.map(item));
  if (rest.length <= fewAnswers && matrixOf(part.overview.effects) === null) return list;
  return el("details", { class: "more" }, el("summary", {}, `All ${count(rest.length, "answer", "answers")} in words`), list);
}

// Subjects of which the same is said share a card.
export function cardsOf(all: Recommendations[]): { subjects: string[]; sentences: Recommendations["sentences"] }[] {
  const cards = new Map<string, { subjects: string[]; sentences: Recommendations["sentences"] }>();
  for (const { subject, sentences } of all) {
    if (sentences.length === 0) continue;
    const key = JSON.stringify(sentences);
    const card = cards.get(key) ?? { subjects: [], sentences };
    card.subjects.push(subject);
    cards.set(key, card);
  }
  return [...cards.values()];
}

function recommendations(all: Recommendations[]): HTMLElement | null {
  const cards = cardsOf(all);
  if (cards.length === 0) return null;
  const card = ({ subjects, sentences }: (typeof cards)[number]): HTMLElement =>
    el(
      "div",
      { class: "recommended" },
      el("h5", {}, name(subjects.length <= fewSubjects ? subjects.join(", ") : `${subjects.slice(0, fewSubjects - 1).join(", ")} and ${subjects.length - fewSubjects + 1} more`, subjects.join(", "))),
      el("ul", {}, ...sentences.map((sentence) => el("li", {}, sign(sentence.tone), el("span", {}, prose(sentence.text))))),
    );
  const list = el("div", { class: "recommendations" }, ...cards.map(card));
  return cards.length <= fewSubjects ? list : el("details", { class: "more" }, el("summary", {}, count(cards.length, "subject", "subjects")), list);
}

// What did not pass is in sight, the rest is folded.
export function checklist(checks: Check[]): HTMLElement | null {
  if (checks.length === 0) return null;
  const item = (check: Check): HTMLElement =>
    el(
      "li",
      {},
      sign(toneOfCheck(check)),
      el("span", {}, name(check.name), ": ", el("strong", {}, wordOfCheck(check)), check.detail === "" ? null : el("span", { class: "note" }, " – ", name(check.detail))),
    );
  return el("ul", { class: "checks" }, ...checks.map(item));
}
