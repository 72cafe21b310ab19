// Builds the report's page: build.mjs FOLDER writes report.js and report.css there, and page.cpp, which defines
// infermeter::page (infermeter/report/forms/page.hpp) from the two. One script and one style, with the hashes by which the
// page's Content-Security-Policy knows them.
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

// What ECharts brings and no picture has: another language, a theme, patterns of areas, options of its earlier releases,
// animations, symbols by the hundred thousand, sectors with round corners, tips that are drawn, and a sign of loading.
const unused = {
  name: "unused",
  setup({ onLoad }) {
    onLoad({ filter: /echarts\/lib\/i18n\/langZH\.js$/ }, ({ path }) => ({ contents: 'export { default } from "./langEN.js"', resolveDir: dirname(path) }));
    onLoad({ filter: /echarts\/lib\/theme\/dark\.js$/ }, () => ({ contents: "export default {}" }));
    onLoad({ filter: /echarts\/lib\/util\/decal\.js$/ }, () => ({ contents: "export function createOrUpdatePatternFromDecal() { return null; }" }));
    onLoad({ filter: /echarts\/lib\/preprocessor\/backwardCompat\.js$/ }, () => ({ contents: "export default function () {}" }));
    onLoad({ filter: /echarts\/lib\/chart\/helper\/LargeSymbolDraw\.js$/ }, () => ({ contents: "export default class {}" }));
    onLoad({ filter: /echarts\/lib\/component\/tooltip\/TooltipRichContent\.js$/ }, () => ({ contents: "export default class {}" }));
    onLoad({ filter: /echarts\/lib\/loading\/default\.js$/ }, () => ({ contents: "export default function () {}" }));
    onLoad({ filter: /echarts\/lib\/chart\/line\/lineAnimationDiff\.js$/ }, () => ({ contents: "export default function () {}" }));
    onLoad({ filter: /zrender\/lib\/svg\/cssAnimation\.js$/ }, () => ({ contents: "export function createCSSAnimation() {}" }));
    onLoad({ filter: /zrender\/lib\/graphic\/helper\/roundSector\.js$/ }, () => ({ contents: "export function buildPath() {}" }));
  },
};

// es2022, of which fields of classes are used, runs in every browser of the last five years; `ascii` survives being saved in another encoding.
async function bundled(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    legalComments: "none",
    logLevel: "warning",
    charset: "ascii",
    plugins: [unused],
    ...options,
  });
  const text = result.outputFiles[0].text.trim();
  // What would end its element in the page, or begin a comment in it.
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${entry}: the bundle holds markup that ends its element`);
  return text;
}

const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

// String literals of C++, in pieces that compilers take.
function literal(text) {
  const pieces = [];
  for (let i = 0; i < text.length; i += 8000) {
    pieces.push(JSON.stringify(text.slice(i, i + 8000)).replaceAll("??", "?\\?"));
  }
  return pieces.join("\n    ");
}

function source(script, style) {
  return `// Made by web/build.mjs.
#include "infermeter/report/forms/page.hpp"

namespace infermeter {
namespace {

constexpr char kScript[] =
    ${literal(script)};
constexpr char kStyle[] =
    ${literal(style)};

}  // namespace

constinit const Page page{
    .script = {kScript, sizeof kScript - 1},
    .style = {kStyle, sizeof kStyle - 1},
    .script_hash = "${hash(script)}",
    .style_hash = "${hash(style)}",
};

}  // namespace infermeter
`;
}

const folder = process.argv[2];
if (folder === undefined) {
  console.error("usage: node build.mjs FOLDER");
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const script = await bundled("main.ts", { format: "iife", target: "es2022" });
const style = await bundled("report.css", {});
await writeFile(join(folder, "report.js"), script);
await writeFile(join(folder, "report.css"), style);
await writeFile(join(folder, "page.cpp"), source(script, style));
