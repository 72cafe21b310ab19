// Over all parts: how each came out, and the checks of all of them side by side.
import type { Check, Outcome, Part, Report } from "../document.ts";
import { el, name } from "../dom.ts";
import { count } from "../format.ts";
import { scrolling } from "../scrolling.ts";
import { badge, sign, toneOf, toneOfCheck, wordOf, wordOfCheck } from "../signs.ts";
import { noticeList } from "./notices.ts";

export function summary(content: Report): HTMLElement | null {
  if (content.parts.length < 2 && content.notices.length === 0) return null;
  const several = content.parts.length > 1;
  return el(
    "article",
    { id: "summary", class: "summary", "aria-labelledby": "summary-title" },
    el("h2", { id: "summary-title" }, "Summary"),
    el(
      "section",
      { "aria-labelledby": "summary-parts-title", id: "summary-parts" },
      el("h3", { id: "summary-parts-title" }, several ? "Outcomes" : "Caveats"),
      noticeList(content.notices),
      several ? el("p", { class: "tally" }, tally(content.parts)) : null,
      several ? partsTable(content.parts) : null,
    ),
    several ? checksSection(content.parts) : null,
  );
}

// "3 of 4 passed; 1 failed."
export function tally(parts: Part[]): string {
  const of = (outcome: Outcome): number => parts.filter((part) => part.outcome === outcome).length;
  const asked = parts.length - of("none");
  if (asked === 0) return `${count(parts.length, "report", "reports")}; none of them was asked to pass anything.`;
  const others = [of("fail") > 0 ? `${of("fail")} failed` : "", of("inconclusive") > 0 ? `${of("inconclusive")} inconclusive` : "", of("none") > 0 ? `${of("none")} not asked` : ""].filter((each) => each !== "");
  return `${of("pass")} of ${asked} passed${others.length > 0 ? `; ${others.join(", ")}` : ""}.`;
}

function partsTable(parts: Part[]): HTMLElement {
  const head = el("tr", {}, ...["report", "outcome", "answer"].map((title) => el("th", { scope: "col" }, title)));
  const rows = parts.map((part, index) => {
    const [answer] = part.answers;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { href: `#part-${index + 1}` }, name(part.title)), el("span", { class: "sub" }, part.kind)),
      el("td", {}, badge(wordOf[part.outcome], toneOf[part.outcome])),
      el("td", {}, answer === undefined ? "–" : el("span", { class: "said" }, sign(answer.tone), el("span", {}, name(answer.text)))),
    );
  });
  return scrolling(el("table", { class: "grid figures outcomes", "aria-label": "Outcomes of all reports" }, el("thead", {}, head), el("tbody", {}, ...rows)), "Outcomes of all reports");
}

// Checks by name, in the order in which they first come up.
export function checkNames(parts: Part[]): string[] {
  return [...new Set(parts.flatMap((part) => part.checks.map((check) => check.name)))];
}

function checksSection(parts: Part[]): HTMLElement | null {
  const names = checkNames(parts);
  if (names.length === 0) return null;
  const head = el("tr", {}, el("th", { scope: "col" }, "check"), ...parts.map((part, index) => el("th", { scope: "col" }, el("a", { href: `#part-${index + 1}` }, name(part.title)))));
  const rows = names.map((each) => el("tr", {}, el("th", { scope: "row" }, name(each)), ...parts.map((part) => checkCell(part.checks.find((check) => check.name === each)))));
  return el(
    "section",
    { id: "summary-checks", "aria-labelledby": "summary-checks-title" },
    el("h3", { id: "summary-checks-title" }, "Checklist"),
    scrolling(el("table", { class: "grid figures matrix", "aria-label": "Checks of all reports" }, el("thead", {}, head), el("tbody", {}, ...rows)), "Checks of all reports"),
  );
}

function checkCell(check: Check | undefined): HTMLElement {
  if (check === undefined) return el("td", { class: "note" }, "–");
  return el("td", { title: check.detail === "" ? undefined : check.detail }, el("span", { class: "said" }, sign(toneOfCheck(check)), el("span", {}, wordOfCheck(check), check.detail === "" ? null : el("span", { class: "sub" }, name(check.detail)))));
}
