// Of a validation: errors sample by sample, and the accuracy of both sides.
import type { Part, Validation } from "../document.ts";
import type { Picture } from "../picture.ts";
import { accuracyPictures } from "./accuracy.ts";
import { sampleErrors } from "./sample_errors.ts";

export function validationPictures(part: Part): Picture[] {
  const validation: Validation | null = part.validation;
  if (validation === null) return [];
  return [...sampleErrors(validation), ...accuracyPictures(validation)]; // the errors by output stand beside the answer
}
