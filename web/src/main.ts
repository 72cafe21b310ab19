// The page: reads its document, and builds what people see, part by part.
import { answers } from "./sections/answers.ts";
import { head, navigation } from "./sections/frame.ts";
import { operators } from "./sections/operators.ts";
import { record } from "./sections/record.ts";
import { summary } from "./sections/summary.ts";
import { tables } from "./sections/tables.ts";
import type { Part, Report } from "./document.ts";
import { el, name } from "./dom.ts";
import { Links } from "./flame/links.ts";
import { watchPage, show } from "./views.ts";
import { galleriesOf } from "./pictures/index.ts";
import type { Gallery } from "./pictures/index.ts";
import { readDocument } from "./read.ts";
import { readAddress, watchAddress, watchFolds } from "./state.ts";

// What an empty section leaves out is left out of the navigation too.
function section(part: string, kind: string, title: string, content: (HTMLElement | null)[]): HTMLElement | null {
  const there = content.filter((element): element is HTMLElement => element !== null);
  if (there.length === 0) return null;
  const id = `${part}-${kind}`;
  return el("section", { id, "aria-labelledby": `${part}-title ${id}-title` }, el("h3", { id: `${id}-title` }, title), ...there);
}

// Of several models each has a fold of its own, the first ones open.
function galleryOf(gallery: Gallery, id: string, place: number): HTMLElement {
  const pictures = el("div", { class: "pictures" }, ...gallery.pictures.map((picture) => show(picture, id)));
  if (gallery.title === "") return pictures;
  return el("details", { class: "gallery", id: `${id}-model-${place + 1}`, "data-short": gallery.title, open: place < galleriesOpen }, el("summary", {}, el("h4", {}, name(gallery.title))), pictures);
}

// A section at a time, so that the browser is never busy for long.
async function part(content: Part, index: number): Promise<HTMLElement> {
  const id = `part-${index + 1}`;
  const links = new Links();
  const sections = [
    () => section(id, "answers", "Answer", answers(content, id)),
    () => section(id, "tables", "Numbers", tables(content, id, links)),
    () => section(id, "operators", "Operators", operators(content, id, links)),
    () => section(id, "charts", "Charts", galleriesOf(content, id, links).map((gallery, place) => galleryOf(gallery, id, place))),
    () => section(id, "record", "Record", record(content)),
  ];
  const article = el("article", { id, class: "part", "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, name(content.title)));
  for (const make of sections) {
    const made = make();
    if (made !== null) article.append(made);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return article;
}

const galleriesOpen = 2;

async function build(content: Report, place: HTMLElement): Promise<void> {
  const parts: HTMLElement[] = [];
  for (const [index, each] of content.parts.entries()) parts.push(await part(each, index));
  const main = el("main", { id: "content", class: parts.length === 1 ? "single" : undefined, tabindex: -1 }, summary(content), ...parts);
  place.replaceChildren(head(content), el("div", { class: "columns" }, navigation(main), main));
}

async function start(): Promise<void> {
  const place = document.getElementById("report");
  if (place === null) return;
  try {
    readAddress();
    const content = await readDocument();
    document.body.append(el("div", { id: "announcements", role: "status", "aria-live": "polite" }));
    await build(content, place);
    watchFolds(place);
    watchPage();
    watchAddress();
    document.documentElement.dataset["ready"] = "";
    window.setTimeout(() => (document.documentElement.dataset["whole"] = ""), 500);
  } catch (error) {
    const text = document.querySelector("noscript")?.textContent ?? "";
    place.replaceChildren(
      el("p", { role: "alert" }, `The report cannot be shown as a page: ${error instanceof Error ? error.message : String(error)}. It follows as text.`),
      el("pre", {}, text.replace(/^\s*<pre[^>]*>|<\/pre>\s*$/g, "")),
    );
  }
}

void start();
