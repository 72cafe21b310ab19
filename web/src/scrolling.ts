import { el } from "./dom.ts";

// Wide content scrolls in its own box, which the keyboard reaches.
export function scrolling(content: HTMLElement, label: string): HTMLElement {
  return el("div", { class: "scrolling", tabindex: 0, role: "group", "aria-label": label }, content);
}
