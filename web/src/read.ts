// The document as it stands in the page: JSON, deflated (zlib), base64.
import type { Report } from "./document.ts";

let text = "";

export async function readDocument(): Promise<Report> {
  const element = document.getElementById("document");
  if (element === null) throw new Error("the page contains no document");
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old for it (it has no DecompressionStream)");
  const bytes = unpacked((element.textContent ?? "").trim());
  text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  const content = JSON.parse(text) as Report;
  if (content.schema !== "infermeter.report/1") throw new Error("its document is of another version");
  return content;
}

// Browsers since 2025 can do it themselves, in a tenth of the time.
function unpacked(base64: string): Uint8Array<ArrayBuffer> {
  const own = Uint8Array as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  return own.fromBase64?.(base64) ?? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// The document as it was read, to be saved.
export function documentText(): string {
  return text;
}
