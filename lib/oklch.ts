/**
 * A colour of CSS as eight hexadecimal digits: red, green, blue, and an alpha of 1. What sRGB can't show is clipped.
 * The matrices are those of Oklab's author: https://bottosson.github.io/posts/oklab/
 * @param lightness from 0 to 1
 * @param hueDegrees from 0 to 360
 */
export function hexOfOklch(lightness: number, chroma: number, hueDegrees: number): string {
  const hue = (hueDegrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return `${channels.map(hexOfLinear).join('')}ff`;
}

/** A channel of linear light, from 0 to 1, as sRGB writes it. */
function hexOfLinear(linear: number): string {
  const encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  const byte = Math.round(Math.min(1, Math.max(0, encoded)) * 255);
  return byte.toString(16).padStart(2, '0');
}
