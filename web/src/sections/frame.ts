// What stands around the parts: the head of the page and its navigation.
import type { Report } from "../document.ts";
import { download, el, name, prose } from "../dom.ts";
import type { Theme } from "../look.ts";
import { redrawAll } from "../views.ts";
import { documentText } from "../read.ts";
import { choose, chosenFor } from "../state.ts";

const themes: [Theme, string][] = [
  ["auto", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function themeChoice(): HTMLElement {
  const select = el("select", {
    onchange: () => {
      document.documentElement.dataset["theme"] = select.value;
      choose("theme", select.value === "auto" ? null : select.value);
      redrawAll();
    },
  });
  const chosen = chosenFor("theme");
  if (themes.some(([value]) => value === chosen)) document.documentElement.dataset["theme"] = chosen ?? "auto";
  for (const [value, label] of themes) select.append(el("option", { value, selected: value === chosen }, label));
  return el("label", {}, "Theme ", select);
}

// The run's id names the file, where there is one run.
function fileName(content: Report): string {
  const run = content.parts.length === 1 ? content.parts[0]?.run?.id : undefined;
  return `infermeter-${run ?? "report"}.json`;
}

export function head(content: Report): HTMLElement {
  const save = (): void => download(fileName(content), new Blob([documentText()], { type: "application/json" }));
  return el(
    "header",
    { class: "head" },
    el("a", { class: "skip", href: "#content" }, "Skip to the report"),
    el("div", { class: "title" }, el("p", { class: "maker" }, `infermeter ${content.infermeter_version}`), el("h1", {}, prose(content.title)), content.about === undefined ? null : el("p", { class: "about" }, name(content.about))),
    el(
      "div",
      { class: "tools" },
      themeChoice(),
      el("button", { type: "button", onclick: () => window.print() }, "Print"),
      el("button", { type: "button", onclick: save }, "Save JSON"),
    ),
  );
}

// Links to the sections that there are, and to their pictures; of several reports those of each are folded.
export function navigation(main: HTMLElement): HTMLElement {
  const single = main.classList.contains("single");
  const link = (target: Element, text: string): HTMLElement => el("a", { href: `#${target.id}` }, name(text));
  const titleOf = (of: Element): string => of.querySelector("h2, h3")?.textContent ?? "";
  const ofSection = (section: Element): HTMLElement => {
    // Of several models their folds, which hold the same pictures each.
    const places = [...section.querySelectorAll<HTMLElement>("details.gallery, figure.picture:not(.compact, .gallery *)")];
    const list = places.length === 0 ? null : el("ul", {}, ...places.map((place) => el("li", { class: "of-picture" }, link(place, place.dataset["short"] ?? ""))));
    return el("li", { class: "of-section" }, link(section, titleOf(section)), list);
  };
  const ofPart = (part: Element): HTMLElement[] => {
    const sections = [...part.querySelectorAll(":scope > section")].map(ofSection);
    if (single) return sections;
    return [el("li", { class: "of-part" }, link(part, titleOf(part)), el("details", {}, el("summary", {}, "Sections"), el("ul", {}, ...sections)))];
  };
  const list = el("ul", {}, ...[...main.querySelectorAll(".part, .summary")].flatMap(ofPart));
  return el("nav", { "aria-label": "Contents" }, list);
}
