/** The shapes of what a file has of one layer's patch, by their parts' names. */
export type Shapes = Readonly<Record<string, readonly number[]>>;

/*
 * What inference/model_server/pipelines/adapters/patches.py makes of the same factors, in shapes alone. LoRA:
 * https://arxiv.org/abs/2106.09685. LoHa: https://arxiv.org/abs/2108.06098. LoKr: https://arxiv.org/abs/2309.14859.
 */
const lokr = ['lokr_w1', 'lokr_w1_a', 'lokr_w1_b', 'lokr_w2', 'lokr_w2_a', 'lokr_w2_b', 'lokr_t2'];
const kinds: Record<string, { needed: string[]; cores: string[] }> = {
  LoRA: { needed: ['down', 'up'], cores: ['mid'] },
  LoHa: { needed: ['hada_w1_a', 'hada_w1_b', 'hada_w2_a', 'hada_w2_b'], cores: ['hada_t1', 'hada_t2'] },
};

/** Which kind these factors, and no others, make up; null where one is missing or is too many. */
export function kindOf(factors: Shapes): string | null {
  const has = (name: string) => Object.hasOwn(factors, name);
  const names = Object.keys(factors);
  for (const [kind, { needed, cores }] of Object.entries(kinds)) {
    const found = cores.filter(has).length;
    const isWhole = needed.every(has) && (found === 0 || found === cores.length);
    if (isWhole && names.length === needed.length + found) return kind;
  }
  const isHalf = (name: string) => {
    const halves = [`${name}_a`, `${name}_b`].filter(has).length;
    return has(name) ? halves === 0 : halves === 2;
  };
  const isLokr = names.every((name) => lokr.includes(name)) && isHalf('lokr_w1') && isHalf('lokr_w2');
  return isLokr && !(has('lokr_t2') && has('lokr_w2')) ? 'LoKr' : null;
}

/** Null for a LoKr of two whole matrices. */
export function rankOf(factors: Shapes): number | null {
  const name = ['down', 'hada_w1_b', 'lokr_w2_b', 'lokr_w1_b'].find((one) => Object.hasOwn(factors, one));
  return name === undefined ? null : factors[name]![0]!;
}

/** Whether the change has the weight's shape, or that of the weight as a matrix (out, in x kernel). */
export function fits(factors: Shapes, weight: readonly number[]): boolean {
  const change = changeOf(factors);
  return change !== null && [weight, flat(weight)].some((shape) => isSame(withoutOnes(change), shape));
}

/** PEFT has the lengths of the rows. LyCORIS has those of rows or of columns. */
export function magnitudeFits(part: string, lengths: readonly number[], weight: readonly number[]): boolean {
  const [rows, columns] = weight as [number, number];
  const count = product(lengths);
  if (part === 'lora_magnitude_vector') return count === rows;
  return (
    (count === rows && lengths[0] === rows) ||
    (count === columns && lengths[0] === 1 && lengths[1] === columns)
  );
}

type Shape = readonly number[] | null;

function changeOf(factors: Shapes): Shape {
  const of = (name: string): Shape => factors[name] ?? null;
  if (factors['mid']) return tucker(of('mid'), transposed(flat(of('up'))), flat(of('down')));
  if (factors['down']) {
    const [out] = matrixProduct(flat(of('up')), flat(of('down'))) ?? [];
    return out === undefined ? null : [out, ...factors['down'].slice(1)];
  }
  if (factors['hada_w1_a']) {
    const [one, two] = [1, 2].map((half) => pair(of, `hada_w${half}`, of(`hada_t${half}`)));
    return one && two && isSame(one, two) ? one : null;
  }
  const small = of('lokr_w1') ?? pair(of, 'lokr_w1', null);
  const large = of('lokr_w2') ?? pair(of, 'lokr_w2', of('lokr_t2'));
  return small && large && small.length <= large.length
    ? large.map((side, i) => side * (small[i] ?? 1))
    : null;
}

function pair(of: (name: string) => Shape, name: string, core: Shape): Shape {
  const [left, right] = [of(`${name}_a`), of(`${name}_b`)];
  return core === null ? matrixProduct(left, right) : tucker(core, left, right);
}

function matrixProduct(left: Shape, right: Shape): Shape {
  if (left?.length !== 2 || right?.length !== 2 || left[1] !== right[0]) return null;
  return [left[0]!, right[1]!];
}

/** (rank, rank, kernel…), (rank, out) and (rank, in) make (out, in, kernel…). */
function tucker(core: Shape, left: Shape, right: Shape): Shape {
  if (core === null || left?.length !== 2 || right?.length !== 2) return null;
  return core[0] === left[0] && core[1] === right[0] ? [left[1]!, right[1]!, ...core.slice(2)] : null;
}

function flat(shape: readonly number[]): number[];
function flat(shape: Shape): Shape;
function flat(shape: Shape): Shape {
  return shape && shape.length > 1 ? [shape[0]!, product(shape.slice(1))] : null;
}

const transposed = (shape: Shape): Shape => shape && [shape[1]!, shape[0]!];

/** A kernel of one pixel is no kernel: some trainers write it down and others don't. */
function withoutOnes(shape: readonly number[]): readonly number[] {
  return shape.length > 2 && shape.at(-1) === 1 ? withoutOnes(shape.slice(0, -1)) : shape;
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  const [a, b] = [withoutOnes(one), withoutOnes(other)];
  return a.length === b.length && a.every((side, i) => side === b[i]);
}

export function product(shape: readonly number[]): number {
  return shape.reduce((all, side) => all * side, 1);
}
