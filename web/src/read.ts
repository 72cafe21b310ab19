// The document as it stands in the page: JSON, deflated (zlib), base64.
import type { Report } from "./document.ts";

let text = "";

export async function readDocument(): Promise<Report> {
  const element = document.getElementById("document");
  if (element === null) throw new Error("the page contains no document");
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old for it (it has no DecompressionStream)");
  const packed = atob((element.textContent ?? "").trim());
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
  text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  const content = JSON.parse(text) as Report;
  if (content.schema !== "infermeter.report/1") throw new Error("its document is of another version");
  return content;
}

// The document as it was read, to be saved.
export function documentText(): string {
  return text;
}
