// Colours for 0 … 255. Equal steps of the value are equal steps of lightness (OKLab's L), and the hue is one: readers
// with any colour vision, and black-and-white printers, see the same order.
export type Ramp = [number, number, number, number][];

export const greys: Ramp = Array.from({ length: 256 }, (_, i) => [i, i, i, 255]);

const blue = (255 * Math.PI) / 180;

// From the page's ground to what stands out most from it.
export function ramp(dark: boolean): Ramp {
  const [from, to] = dark ? [0.2, 0.95] : [0.98, 0.28];
  return Array.from({ length: 256 }, (_, i) => {
    const part = i / 255;
    const lightness = from + (to - from) * part;
    // Most colour in the middle: sRGB has little of it near white and near black.
    return srgb(lightness, 0.5 * part * (1 - part), blue);
  });
}

// OKLCH to sRGB, after Björn Ottosson, "A perceptual color space for image processing" (2020).
function srgb(lightness: number, chroma: number, hue: number): Ramp[number] {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encoded(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    255,
  ];
}

function encoded(linear: number): number {
  const cut = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (cut <= 0.0031308 ? 12.92 * cut : 1.055 * cut ** (1 / 2.4) - 0.055));
}
