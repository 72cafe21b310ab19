// A command that readers can run again, with a button that copies it.
import { copy, el, visible } from "../dom.ts";

export function commandLine(command: string, what: string): HTMLElement {
  return el(
    "div",
    { class: "command" },
    el("pre", {}, visible(command)),
    el("button", { type: "button", class: "small", "aria-label": `Copy ${what}`, onclick: () => void copy(visible(command), what) }, "Copy"),
  );
}
