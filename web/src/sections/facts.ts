// Facts by name, in groups.
import { el, name } from "../dom.ts";
import type { Child } from "../dom.ts";

export interface Fact {
  name: string;
  value: string; // "": not known
  code?: boolean;
}

export interface FactGroup {
  title: string;
  facts: Fact[];
}

export function factGroups(groups: FactGroup[]): HTMLElement | null {
  const there = groups.filter((group) => group.facts.length > 0);
  if (there.length === 0) return null;
  const card = (group: FactGroup): HTMLElement =>
    el("div", { class: "card" }, el("h5", {}, name(group.title)), el("dl", {}, ...group.facts.flatMap((fact): Child[] => [el("dt", {}, name(fact.name)), value(fact)])));
  return el("div", { class: "facts" }, ...there.map(card));
}

function value(fact: Fact): HTMLElement {
  if (fact.value === "") return el("dd", { class: "note" }, "not known");
  return el("dd", { class: fact.code === true ? "mono" : undefined }, name(fact.value));
}
