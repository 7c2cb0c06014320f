/** A number for every pixel, computed on a coarser grid and interpolated. For soft things such as clouds and fog. */
export interface Field {
  readonly width: number;
  readonly values: Float32Array;
}

/** Values of `at` for rows `top` … `bottom` − 1. Every `step` pixels there is an exact value. */
export function createField(
  width: number,
  top: number,
  bottom: number,
  step: number,
  at: (x: number, y: number) => number,
): Field {
  const columns = Math.ceil(width / step) + 1;
  const rows = Math.ceil((bottom - top) / step) + 1;
  const coarse = new Float32Array(columns * rows);
  for (let j = 0; j < rows; j += 1) {
    for (let i = 0; i < columns; i += 1) coarse[j * columns + i] = at(i * step, top + j * step);
  }
  const values = new Float32Array(width * Math.max(0, bottom - top));
  const line = new Float32Array(columns);
  for (let y = 0, to = 0; y < bottom - top; y += 1) {
    const j = Math.floor(y / step);
    const fy = y / step - j;
    for (let i = 0; i < columns; i += 1) {
      line[i] = coarse[j * columns + i]! * (1 - fy) + coarse[(j + 1) * columns + i]! * fy;
    }
    for (let x = 0; x < width; x += 1, to += 1) {
      const i = Math.floor(x / step);
      const fx = x / step - i;
      values[to] = line[i]! + (line[i + 1]! - line[i]!) * fx;
    }
  }
  return { width, values };
}
