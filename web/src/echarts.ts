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
import { extendShape, registerShape } from "echarts/lib/util/graphic.js";
import { createSymbol } from "echarts/lib/util/symbol.js";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import Cache from "zrender/lib/core/LRU.js";
import { pointed } from "./pictures/marks.ts";

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

// Many symbols as one shape.
export interface Dots {
  places: { x: number; y: number }[];
  symbol: string; // of ECharts, or "point": the end of a line
  size: number;
}

registerShape(
  "dots",
  extendShape<Dots>({
    shape: { places: [], symbol: "", size: 0 },
    buildPath(path, { places, symbol, size }) {
      for (const { x, y } of places) {
        if (symbol === "point") {
          path.moveTo(x, y);
          path.lineTo(x + 0.01, y);
          continue;
        }
        const one = createSymbol(symbol, x - size / 2, y - size / 2, size, size);
        one.buildPath(path, one.shape);
      }
    },
    contain(x, y) {
      const { places, size } = this.shape;
      const at = places.findIndex((each) => Math.hypot(each.x - x, each.y - y) <= size / 2 + 1);
      if (at >= 0) pointed.at = at;
      return at >= 0;
    },
  }),
);

export const init = core.init;
export type Chart = core.EChartsType;
// Options are built from values that are checked where they are made; ECharts' own types cannot be tree-shaken.
export type Option = Record<string, unknown>;
