// What echarts.ts uses of ECharts' own files, which bring no types.
declare module "echarts/lib/util/symbol.js" {
  export function createSymbol(type: string, x: number, y: number, width: number, height: number): { shape: object; buildPath(path: CanvasPath, shape: object): void };
}
declare module "echarts/lib/util/graphic.js" {
  export function registerShape(name: string, made: unknown): void;
  export function extendShape<Shape>(of: { shape: Shape; buildPath(path: CanvasPath, shape: Shape): void; contain(this: { shape: Shape }, x: number, y: number): boolean }): unknown;
}
