// The page: reads its document, and builds what people see, part by part.
import { answers } from "./sections/answers.ts";
import { head, navigation } from "./sections/frame.ts";
import { operators } from "./sections/operators.ts";
import { record } from "./sections/record.ts";
import { summary } from "./sections/summary.ts";
import { tables } from "./sections/tables.ts";
import type { Part, ReportDocument } from "./document.ts";
import { el, name } from "./dom.ts";
import { watchPage, show } from "./picture.ts";
import { picturesOf } from "./pictures/index.ts";
import { readDocument } from "./read.ts";

// What an empty section leaves out is left out of the navigation too.
function section(part: string, kind: string, title: string, content: (HTMLElement | null)[]): HTMLElement | null {
  const there = content.filter((element): element is HTMLElement => element !== null);
  if (there.length === 0) return null;
  const id = `${part}-${kind}`;
  return el("section", { id, "aria-labelledby": `${part}-title ${id}-title` }, el("h3", { id: `${id}-title` }, title), ...there);
}

function part(content: Part, index: number): HTMLElement {
  const id = `part-${index + 1}`;
  const pictures = picturesOf(content).map((picture) => show(picture, id));
  return el(
    "article",
    { id, class: "part", "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, name(content.title)),
    section(id, "answers", "Answers", answers(content)),
    section(id, "tables", "Figures", tables(content)),
    section(id, "operators", "Operators", operators(content, id)),
    section(id, "pictures", "Pictures", pictures.length > 0 ? [el("div", { class: "pictures" }, ...pictures)] : []),
    section(id, "record", "Record", record(content)),
  );
}

function build(content: ReportDocument, place: HTMLElement): void {
  const parts = content.parts.map(part);
  const main = el("main", { id: "content", class: parts.length === 1 ? "single" : undefined, tabindex: -1 }, summary(content), ...parts);
  place.replaceChildren(head(content), el("div", { class: "columns" }, navigation(main), main));
}

async function start(): Promise<void> {
  const place = document.getElementById("report");
  if (place === null) return;
  try {
    const content = await readDocument();
    document.body.append(el("div", { id: "announcements", role: "status", "aria-live": "polite" }));
    build(content, place);
    watchPage();
    document.documentElement.dataset["ready"] = "";
  } catch (error) {
    const text = document.querySelector("noscript")?.textContent ?? "";
    place.replaceChildren(
      el("p", { role: "alert" }, `The report cannot be shown as a page: ${error instanceof Error ? error.message : String(error)}. It follows as text.`),
      el("pre", {}, text.replace(/^\s*<pre>|<\/pre>\s*$/g, "")),
    );
  }
}

void start();
