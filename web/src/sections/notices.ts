// Caveats of the figures, with what helps. Errors and warnings open, the rest folded.
import type { Notice, Tone } from "../document.ts";
import { el, name } from "../dom.ts";
import { count } from "../format.ts";
import { sign } from "../signs.ts";

const tones: Record<Notice["severity"], Tone> = { error: "bad", warning: "warning", info: "plain" };
const messagesShown = 4;

export function toneOfNotice(notice: Notice): Tone {
  return tones[notice.severity];
}

function messageList(messages: string[]): HTMLElement {
  const item = (message: string): HTMLElement => el("li", {}, name(message));
  const rest = messages.slice(messagesShown).map(item);
  const list = el("ul", { class: "messages" }, ...messages.slice(0, messagesShown).map(item));
  if (rest.length === 0) return list;
  return el("div", {}, list, el("details", { class: "more" }, el("summary", {}, `${rest.length} more`), el("ul", { class: "messages" }, ...rest)));
}

function row(notice: Notice): HTMLElement {
  return el(
    "li",
    { class: `notice ${tones[notice.severity]}` },
    sign(tones[notice.severity]),
    el(
      "div",
      {},
      el("span", { class: "off-screen" }, `${notice.severity}: `),
      messageList(notice.messages),
      el("p", { class: "remedy" }, notice.remedy === "" ? "" : "→ ", name(notice.remedy), " ", el("code", { class: "id" }, name(notice.id))),
    ),
  );
}

export function noticeList(notices: Notice[]): HTMLElement | null {
  if (notices.length === 0) return null;
  const open = notices.filter((notice) => notice.severity !== "info");
  const infos = notices.filter((notice) => notice.severity === "info");
  return el(
    "div",
    { class: "notices" },
    open.length > 0 ? el("ul", {}, ...open.map(row)) : null,
    infos.length > 0 ? el("details", {}, el("summary", {}, count(infos.length, "remark", "remarks")), el("ul", {}, ...infos.map(row))) : null,
  );
}
