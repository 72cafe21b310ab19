// A race of settings: how far each lies behind the best.
import type { Run } from "../document.ts";
import type { Picture } from "../picture.ts";
import { behind, standing, tuningRows } from "../sections/tuning_table.ts";
import { changesChart } from "./effects_chart.ts";
import { metricTitle } from "./metric.ts";

export function settingsChart(run: Run): Picture[] {
  const asked = run.plan.tuning;
  const rows = tuningRows(run);
  const best = rows.find((row) => row.setting.fate === "best")?.label ?? "";
  if (asked === null || rows.length < 2) return [];
  const changes = rows.map((row) => {
    const { value, interval } = behind(row);
    const confidence = row.setting.behind_interval?.confidence ?? 0.95;
    const [verdict, tone] = standing(row);
    return {
      subject: row.setting.subject, group: "", label: row.label, against: best, metric: asked.objective, verdict, tone: tone ?? ("plain" as const),
      change: row.setting.fate === "best" ? 0 : value, interval: interval === null || interval === undefined ? null : { ...interval, confidence },
    };
  });
  return changesChart(changes, asked.indifference, { id: "settings", short: "Settings", title: `${metricTitle(asked.objective)} of each setting against the best` });
}
