// A race of settings: how far each lies behind the best.
import type { Run } from "../document.ts";
import type { Picture } from "../picture.ts";
import { behind, standing, tuningRows } from "../sections/tuning_table.ts";
import { changesChart } from "./effects_chart.ts";
import { metricTitle } from "./metric.ts";

export function settingsChart(run: Run): Picture[] {
  const asked = run.plan.tuning;
  const rows = tuningRows(run);
  const names = withoutCommon(rows.map((row) => row.label));
  const best = names[rows.findIndex((row) => row.setting.fate === "best")] ?? "";
  if (asked === null || rows.length < 2 || best === "") return [];
  const changes = rows.map((row, index) => {
    const { value, interval } = behind(row);
    const confidence = row.setting.behind_interval?.confidence ?? 0.95;
    const [verdict, tone] = standing(row);
    return {
      subject: row.setting.subject, group: "", label: names[index] ?? row.label, against: best, metric: asked.objective, verdict, tone: tone ?? ("plain" as const),
      change: row.setting.fate === "best" ? 0 : value, itself: row.setting.fate === "best", interval: interval === null || interval === undefined ? null : { ...interval, confidence },
    };
  });
  return changesChart(changes, asked.indifference, { id: "settings", short: "Settings", title: `${metricTitle(asked.objective)} against ${best}` });
}

// "mobilenet_v3_small@openvino,threads=1" is "openvino,threads=1" where all are of that model.
function withoutCommon(labels: string[]): string[] {
  const [first = ""] = labels;
  const common = first.slice(0, first.indexOf("@") + 1);
  return labels.every((label) => label.startsWith(common) && label.length > common.length) ? labels.map((label) => label.slice(common.length)) : labels;
}
