// What stands around the parts: the head of the page and its navigation.
import type { ReportDocument } from "../document.ts";
import { download, el, name } from "../dom.ts";
import type { Theme } from "../look.ts";
import { redrawAll } from "../picture.ts";
import { documentText } from "../read.ts";

const themes: [Theme, string][] = [
  ["auto", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function themeChoice(): HTMLElement {
  const select = el("select", {
    onchange: () => {
      document.documentElement.dataset["theme"] = select.value;
      redrawAll();
    },
  });
  for (const [value, label] of themes) select.append(el("option", { value }, label));
  return el("label", {}, "Colours ", select);
}

// The run's id names the file, where there is one run.
function fileName(content: ReportDocument): string {
  const run = content.parts.length === 1 ? content.parts[0]?.run?.id : undefined;
  return `infermeter-${run ?? "report"}.json`;
}

export function head(content: ReportDocument): HTMLElement {
  const save = (): void => download(fileName(content), new Blob([documentText()], { type: "application/json" }));
  return el(
    "header",
    { class: "head" },
    el("a", { class: "skip", href: "#content" }, "Skip to the report"),
    el("div", { class: "title" }, el("p", { class: "maker" }, `infermeter ${content.infermeter_version}`), el("h1", {}, name(content.title)), content.about === undefined ? null : el("p", { class: "about" }, name(content.about))),
    el(
      "div",
      { class: "tools" },
      themeChoice(),
      el("button", { type: "button", onclick: () => window.print() }, "Print"),
      el("button", { type: "button", onclick: save }, "Save JSON"),
    ),
  );
}

// Links to the sections that there are.
export function navigation(main: HTMLElement): HTMLElement {
  const list = el("ul", {});
  const link = (target: Element, level: string): HTMLElement =>
    el("li", { class: level }, el("a", { href: `#${target.id}` }, name(target.querySelector("h2, h3")?.textContent ?? "")));
  for (const part of main.querySelectorAll(".part, .summary")) {
    if (!main.classList.contains("single")) list.append(link(part, "of-part"));
    for (const section of part.querySelectorAll(":scope > section")) list.append(link(section, "of-section"));
  }
  return el("nav", { "aria-label": "Contents" }, list);
}
