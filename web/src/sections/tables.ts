// The figures of a part, as tables.
import type { Part } from "../document.ts";
import type { Links } from "../flame/links.ts";
import { comparisonTable } from "./comparison_table.ts";
import { historyTables } from "./history_tables.ts";
import { layersTable } from "./layers_table.ts";
import { failedTable, generationTable, loadTable } from "./load_table.ts";
import { partingsTable } from "./partings_table.ts";
import { runTable } from "./run_table.ts";
import { tuningTable } from "./tuning_table.ts";
import { accuracyTable, outputsTable, samplesTable } from "./validation_tables.ts";
import { variantsTable } from "./variants_table.ts";

export function tables(part: Part, id: string, links: Links): HTMLElement[] {
  const { run, figures, validation, variants, layers, history } = part;
  const all: (HTMLElement | null)[] = [
    variants === null ? null : variantsTable(variants),
    run === null ? null : tuningTable(run),
    ...(run === null ? [] : [loadTable(run), failedTable(run), generationTable(run)]),
    run === null ? null : runTable(run, figures, id),
    run === null ? null : comparisonTable(run),
    ...(validation === null ? [] : [accuracyTable(validation), outputsTable(validation), samplesTable(validation)]),
    partingsTable(run, validation),
    layers === null ? null : layersTable(layers, part.graphs.length > 0 ? links : null),
    ...(history === null ? [] : historyTables(history)),
  ];
  return all.filter((table): table is HTMLElement => table !== null);
}
