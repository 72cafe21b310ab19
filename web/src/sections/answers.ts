// The answers, first the one that was asked for; right under them what to mind about them.
import type { Answer, Check, Part, Recommendations, Run } from "../document.ts";
import { el, name } from "../dom.ts";
import { count } from "../format.ts";
import { badge, sign, toneOf, wordOf } from "../signs.ts";
import { gateTable } from "./gate_table.ts";
import { noticeList } from "./notices.ts";

export function answers(part: Part): (HTMLElement | null)[] {
  return [
    part.run === null ? null : unfinished(part.run),
    answerList(part.answers),
    headed("Reservations", noticeList(part.notices)),
    part.gate === null ? null : gateTable(part.gate),
    headed("Recommendations", recommendations(part.recommendations)),
    headed("Checklist", checklist(part.checks)),
  ];
}

function headed(title: string, content: HTMLElement | null): HTMLElement | null {
  return content === null ? null : el("div", { class: "block" }, el("h4", {}, title), content);
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

function answerList(all: Answer[]): HTMLElement | null {
  if (all.length === 0) return null;
  const item = (answer: Answer, index: number): HTMLElement =>
    el("li", { class: `answer${index === 0 ? " primary" : ""} ${answer.tone}` }, badge(answer.verdict, answer.tone), " ", el("span", { class: "sentence" }, name(answer.text)));
  return el("ul", { class: "answer-list" }, ...all.map(item));
}

function recommendations(all: Recommendations[]): HTMLElement | null {
  const told = all.filter((each) => each.sentences.length > 0);
  if (told.length === 0) return null;
  const subject = (each: Recommendations): HTMLElement =>
    el(
      "div",
      { class: "recommended" },
      el("h5", {}, name(each.subject)),
      el("ul", {}, ...each.sentences.map((sentence) => el("li", {}, sign(sentence.tone), el("span", {}, name(sentence.text))))),
    );
  return el("div", { class: "recommendations" }, ...told.map(subject));
}

export function checklist(checks: Check[]): HTMLElement | null {
  if (checks.length === 0) return null;
  const item = (check: Check): HTMLElement =>
    el(
      "li",
      {},
      sign(toneOf[check.outcome]),
      el("span", {}, name(check.name), ": ", el("strong", {}, wordOf[check.outcome]), check.detail === "" ? null : el("span", { class: "note" }, " – ", name(check.detail))),
    );
  return el("ul", { class: "checks" }, ...checks.map(item));
}
