// Made from infermeter/fidelity/difference_figures.cpp: INFERMETER_APPROVE=1 infermeter_report_test --gtest_filter='DifferenceFigures.*'
export interface SampleFigures {
  mae: number | null;
  mse: number | null;
  rmse: number | null;
  relative_l2: number | null;
  relative_max: number | null;
  cosine: number | null;
  pearson: number | null;
  psnr_db: number | null;
  ssim: number | null;
}

export interface WholeFigures {
  relative_l1: number | null;
  data_range: number | null;
  top1_agreement: number | null;
  top5_agreement: number | null;
}

export interface DifferenceFigure<Figures> {
  id: keyof Figures & string;
  title: string;
  measure: string; // of an axis
  likeness: boolean; // more is better
  unit: "" | "dB" | "share";
  hidden: boolean; // until the reader switches it on
}

// Those that the page shows: of outputs and of single samples, and of outputs alone.
export const sampleFigures: DifferenceFigure<SampleFigures>[] = [
  { id: "mae", title: "MAE", measure: "mean |difference|", likeness: false, unit: "", hidden: false },
  { id: "rmse", title: "RMSE", measure: "root mean square", likeness: false, unit: "", hidden: false },
  { id: "relative_l2", title: "relative L2", measure: "relative L2", likeness: false, unit: "", hidden: false },
  { id: "relative_max", title: "relative max", measure: "relative, largest", likeness: false, unit: "", hidden: true },
  { id: "cosine", title: "cosine", measure: "cosine", likeness: true, unit: "", hidden: false },
  { id: "pearson", title: "Pearson", measure: "correlation", likeness: true, unit: "", hidden: true },
  { id: "psnr_db", title: "PSNR", measure: "PSNR", likeness: true, unit: "dB", hidden: false },
  { id: "ssim", title: "SSIM", measure: "SSIM", likeness: true, unit: "", hidden: false },
];

export const wholeFigures: DifferenceFigure<WholeFigures>[] = [
  { id: "top1_agreement", title: "top-1 agreement", measure: "top-1 agreement", likeness: true, unit: "share", hidden: false },
  { id: "top5_agreement", title: "top-5 agreement", measure: "top-5 agreement", likeness: true, unit: "share", hidden: true },
];
