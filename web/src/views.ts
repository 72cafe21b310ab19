// All pictures of the page: when each is drawn, and what happens to them when the page changes.
import { currentLook, setPrinting } from "./look.ts";
import type { Picture } from "./picture.ts";
import { View } from "./view.ts";

const views: View[] = [];
const viewOf = new WeakMap<Element, View>();
let width = 0;

// One at a time with a frame between: the page is there before its pictures, and a click waits for one of them at most.
const waiting: View[] = [];
function drawLater(view: View): void {
  waiting.push(view);
  if (waiting.length === 1) afterFrame(drawNext);
}

function afterFrame(act: () => void): void {
  window.requestAnimationFrame(() => window.setTimeout(act));
}

function drawNext(): void {
  const view = waiting.shift();
  if (waiting.length > 0) afterFrame(drawNext);
  view?.draw();
}

// Made with the first picture, not with the module, whose other parts need no page.
let observer: IntersectionObserver | null = null;
function drawWhenNear(place: HTMLElement): void {
  observer ??= new IntersectionObserver(
    (entries) => {
      reserveAll();
      for (const entry of entries) {
        const view = entry.isIntersecting ? viewOf.get(entry.target) : undefined;
        if (view !== undefined) drawLater(view);
      }
    },
    { rootMargin: "600px 0px" },
  );
  observer.observe(place);
}

// When the page has its first layout: only then is it known how wide they are. And when that changes.
let reserved = 0;
function reserveAll(): void {
  if (views[reserved]?.place.isConnected !== true) return; // all are there, or the page is still being built
  const [look, fresh] = [currentLook(), views.slice(reserved)];
  const widths = fresh.map((view) => view.width()); // read before anything changes: one layout, not one per picture
  fresh.forEach((view, index) => view.reserve(look, widths[index] as number));
  reserved = views.length;
}

export function show(picture: Picture, part: string): HTMLElement {
  const view = new View(picture, `${part}-${picture.id}`, part);
  views.push(view);
  viewOf.set(view.place, view);
  drawWhenNear(view.place);
  return view.figure;
}

export function redrawAll(): void {
  reserved = 0;
  reserveAll();
  for (const view of views) view.redraw();
}

// Paper is light, has everything on it, and no buttons.
export function watchPage(): void {
  width = window.innerWidth;
  reserveAll();
  const sizes = new ResizeObserver(() => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    redrawAll();
  });
  sizes.observe(document.documentElement);
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-reduced-motion: reduce)"]) window.matchMedia(query).addEventListener("change", redrawAll);
  const opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    setPrinting(true);
    document.documentElement.dataset["printing"] = "";
    for (const details of document.querySelectorAll("details")) {
      if (!details.open && !details.classList.contains("data")) {
        details.open = true;
        opened.push(details);
      }
    }
    for (const view of views) view.draw();
    redrawAll();
  });
  window.addEventListener("afterprint", () => {
    setPrinting(false);
    delete document.documentElement.dataset["printing"];
    for (const details of opened.splice(0)) details.open = false;
    redrawAll();
  });
}
