// The tests of the report's page: bundles test/*.test.ts into a temporary folder and runs them with node --test, whose
// exit code and closing lines are this one's. Arguments name single files: run.mjs look.test.ts
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const chosen = process.argv.slice(2);
const files = (await readdir(here)).filter((file) => file.endsWith(".test.ts") && (chosen.length === 0 || chosen.includes(file)));
if (files.length === 0) {
  console.error("no test/*.test.ts of that name");
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "infermeter-page-tests-"));
try {
  await build({
    entryPoints: files.map((file) => join(here, file)),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    sourcemap: "inline",
    logLevel: "warning",
  });
  const bundled = files.map((file) => join(folder, file.replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...bundled], { stdio: "inherit", cwd: join(here, "..") });
  process.exitCode = status ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
