// The same question, asked of several models or settings, as one table: a cell says how it came out and by how much. A cell
// is a button that shows more.
import type { Effect, Part } from "../document.ts";
import { el, freshId, name, prose } from "../dom.ts";
import { markIn, touch } from "../hover.ts";
import { effectText } from "../pictures/effects_chart.ts";
import { scrolling } from "../scrolling.ts";
import { sign } from "../signs.ts";

export interface Matrix {
  rows: { label: string; against: string }[];
  groups: string[];
  cells: (Effect | undefined)[][]; // of rows and groups
}

// null: where there is but one group the chart says all of it.
export function matrixOf(effects: Effect[]): Matrix | null {
  const compared = effects.filter((effect) => effect.baseline !== null);
  const groups = [...new Set(compared.map((effect) => effect.group))];
  const keys = [...new Set(compared.map((effect) => JSON.stringify([effect.label, effect.against])))];
  const rows = keys.map((key) => JSON.parse(key) as [string, string]).map(([label, against]) => ({ label, against }));
  if (groups.length < 2) return null;
  const cells = rows.map((row) => groups.map((group) => compared.find((effect) => effect.group === group && effect.label === row.label && effect.against === row.against)));
  return { rows, groups, cells };
}

export function matrix(part: Part, id: string): HTMLElement | null {
  const found = matrixOf(part.overview.effects);
  if (found === null) return null;
  const details = el("div", { class: "cell-details", id: freshId("cell"), hidden: true });
  const head = el("tr", {}, el("th", { scope: "col" }, "candidate"), ...found.groups.map((group) => el("th", { scope: "col" }, name(group))));
  const rows = found.rows.map((row, index) =>
    el("tr", {}, el("th", { scope: "row" }, name(row.label), el("span", { class: "sub" }, "against ", name(row.against))), ...(found.cells[index] ?? []).map((effect) => cell(part, id, effect, details))),
  );
  const table = el("table", { class: "grid figures matrix", "aria-label": "Each candidate on each model" }, el("thead", {}, head), el("tbody", {}, ...rows));
  markIn(table, id);
  return el("div", { class: "block" }, scrolling(table, "Each candidate on each model"), details);
}

function cell(part: Part, id: string, effect: Effect | undefined, details: HTMLElement): HTMLElement {
  if (effect === undefined) return el("td", { class: "note" }, "–");
  const button = el(
    "button",
    { type: "button", class: `outcome ${effect.tone}`, "aria-controls": details.id, "aria-expanded": "false", onclick: () => tell(part, effect, button, details) },
    el("span", { class: "said" }, sign(effect.tone), el("span", {}, effect.verdict)),
    el("span", { class: "sub" }, effectText(effect)),
  );
  const place = el("td", {}, button);
  touch(place, id, effect.subject);
  return place;
}

// Under the table; the same cell again closes it.
function tell(part: Part, effect: Effect, button: HTMLElement, details: HTMLElement): void {
  const open = button.getAttribute("aria-expanded") !== "true";
  for (const other of button.closest("table")?.querySelectorAll("button") ?? []) other.setAttribute("aria-expanded", String(open && other === button));
  details.hidden = !open;
  const label = part.run?.subjects[effect.subject]?.label ?? effect.label;
  const answers = part.answers.filter((answer) => answer.subjects.includes(effect.subject) && answer.topic !== "fastest");
  const sentences = part.recommendations.find((each) => each.subject === label)?.sentences ?? [];
  details.replaceChildren(
    el("h4", {}, name(effect.label), " against ", name(effect.against), ": ", name(effect.group)),
    ...answers.map((answer) => el("p", {}, sign(answer.tone), " ", prose(answer.text))),
    el("ul", { class: "said-list" }, ...sentences.map((sentence) => el("li", {}, sign(sentence.tone), el("span", {}, name(sentence.text))))),
  );
}
