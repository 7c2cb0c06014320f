/** 3 × 3 matrices, row by row. */
export type Matrix = readonly number[];

/**
 * The symmetric map M with M A M = B. Of all linear maps from a Gaussian of covariance A to one of covariance B, it
 * moves points least. Both must be symmetric and positive definite.
 */
export function leastMap(a: Matrix, b: Matrix): Matrix {
  const root = squareRoot(a);
  const back = inverse(root);
  return times(times(back, squareRoot(times(times(root, b), root))), back);
}

/** Denman and Beavers' iteration. It needs basic arithmetic only, which is the same on every machine. */
function squareRoot(a: Matrix): Matrix {
  let y = a;
  let z: Matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  for (let i = 0; i < 24; i += 1) {
    const [oneOverY, oneOverZ] = [inverse(y), inverse(z)];
    y = y.map((value, k) => (value + oneOverZ[k]!) / 2);
    z = z.map((value, k) => (value + oneOverY[k]!) / 2);
  }
  return y;
}

export function times(a: Matrix, b: Matrix): Matrix {
  return a.map((_, k) => {
    const [row, column] = [Math.floor(k / 3) * 3, k % 3];
    return a[row]! * b[column]! + a[row + 1]! * b[column + 3]! + a[row + 2]! * b[column + 6]!;
  });
}

function inverse(m: Matrix): Matrix {
  const [a, b, c, d, e, f, g, h, i] = m as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const cofactors = [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
  ];
  const last = [d * h - e * g, b * g - a * h, a * e - b * d];
  const determinant = a * cofactors[0]! + b * cofactors[3]! + c * last[0]!;
  return [...cofactors, ...last].map((value) => value / determinant);
}
