// Made from infermeter/fidelity/difference_figures.cpp: INFERMETER_APPROVE=1 infermeter_report_test --gtest_filter='DifferenceFigures.*'
import type { OutputDifference } from "./document.ts";

export type SampleFigures = Pick<OutputDifference, "mae" | "mse" | "rmse" | "relative_l2" | "relative_max" | "cosine" | "pearson" | "psnr_db" | "ssim" | "agreed_prefix">;
export type WholeFigures = Pick<OutputDifference, "relative_l1" | "data_range" | "top1_agreement" | "top5_agreement" | "kl_divergence">;

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
  { id: "agreed_prefix", title: "same until", measure: "same until", likeness: true, unit: "share", hidden: true },
];

export const wholeFigures: DifferenceFigure<WholeFigures>[] = [
  { id: "top1_agreement", title: "top-1 agreement", measure: "top-1 agreement", likeness: true, unit: "share", hidden: false },
  { id: "top5_agreement", title: "top-5 agreement", measure: "top-5 agreement", likeness: true, unit: "share", hidden: true },
  { id: "kl_divergence", title: "KL divergence", measure: "KL divergence", likeness: false, unit: "", hidden: true },
];
