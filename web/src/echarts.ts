// The parts of Apache ECharts that the pictures use.
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import * as core from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";

// The canvas draws the PNG files only: the page's policy lets no picture be loaded, not even one of its own.
core.use([
  BarChart,
  CanvasRenderer,
  CustomChart,
  DataZoomInsideComponent,
  GridComponent,
  HeatmapChart,
  LabelLayout,
  LegendPlainComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  ScatterChart,
  SVGRenderer,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
]);

export const init = core.init;
export type Chart = core.EChartsType;
// Options are built from values that are checked where they are made; ECharts' own types cannot be tree-shaken.
export type Option = Record<string, unknown>;
