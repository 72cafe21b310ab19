// The parts of Apache ECharts that the pictures use.
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  TitleComponent,
  TooltipComponent,
} from "echarts/components";
import * as core from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import Cache from "zrender/lib/core/LRU.js";

// The caches of ECharts are plain objects: a text such as "__proto__" would find what every object inherits there, and be
// given it for an entry, whose fields are then those of all objects.
const get = Cache.prototype.get;
Cache.prototype.get = function (this: { _map: object }, key: string | number) {
  return Object.prototype.hasOwnProperty.call(this._map, key) ? get.call(this as never, key) : undefined;
};

// The canvas draws the PNG files only: the page's policy lets no picture be loaded, not even one of its own.
core.use([
  CanvasRenderer,
  CustomChart,
  DataZoomInsideComponent,
  GridComponent,
  LabelLayout,
  LegendPlainComponent,
  LineChart,
  ScatterChart,
  SVGRenderer,
  TitleComponent,
  TooltipComponent,
]);

export const init = core.init;
export type Chart = core.EChartsType;
// Options are built from values that are checked where they are made; ECharts' own types cannot be tree-shaken.
export type Option = Record<string, unknown>;
