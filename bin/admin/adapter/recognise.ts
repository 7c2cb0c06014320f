import table from './layers.json' with { type: 'json' };
import type { AdapterFile, Tensor } from './file.ts';
import { fits, kindOf, magnitudeFits, product, rankOf } from './patch.ts';

/*
 * What an adapter is, by its tensors' names and shapes. The table is written from the model server's own code, and the
 * rules are those of its `adapters/file.py`: what is taken here it can read, as far as names, shapes and types tell.
 */

export interface Adapter {
  base: BaseModel;
  /** Whose names the layers have. */
  format: string;
  /** As "LoRA", "LoKr with DoRA". */
  kind: string;
  /** Each that occurs, the lowest first. */
  ranks: number[];
  layers: number;
}

export interface Misfit {
  tensor: string;
  why: string;
}

/** The best that was found: an adapter without misfits, or the model that it lacks least for. */
export interface Finding {
  adapter: Adapter;
  misfits: Misfit[];
}

export type BaseModel = ReturnType<typeof baseModel>;
export const baseModels = table.models.map(baseModel);

/** @param model the only one to try; null for whichever it fits best */
export function recognise({ tensors }: Pick<AdapterFile, 'tensors'>, model: BaseModel | null): Finding {
  const findings = (model === null ? baseModels : [model]).flatMap((base) =>
    base.forms.map((form) => judge(tensors, base, form)),
  );
  return findings.reduce((best, other) => (other.misfits.length < best.misfits.length ? other : best));
}

interface Form {
  /** The shape of a layer's weight, and one name for all that the layer is spelled by. */
  find(spelled: string): Layer | undefined;
  /** Null where it may have all. */
  parts: string[] | null;
}

interface Layer {
  name: string;
  shape: number[];
}

type Rows = Record<string, number[] | undefined>;

function baseModel({ kind, name, pipeline, part, layers, converted }: (typeof table.models)[number]) {
  const own = spellings(layers);
  const prefixes = [`${part}.`, ...table.prefixes];
  const ownForm: Form = {
    parts: null,
    find(spelled) {
      const rest = spelled.replace(/^base_model\.model\./, '').replaceAll('.processor.', '.');
      return own.get(rest.slice(prefixes.find((one) => rest.startsWith(one))?.length ?? 0));
    },
  };
  const forms = converted.map((form): Form => {
    const others = spellings(form.layers);
    return {
      parts: form.parts,
      find(spelled) {
        const prefix = form.prefixes.find((one) => spelled.startsWith(one));
        const rest = prefix === undefined ? '' : spelled.slice(prefix.length);
        return others.get(rest) ?? (form.own ? own.get(rest) : undefined);
      },
    };
  });
  return { kind, name, pipeline, part, forms: [ownForm, ...forms] };
}

/** Each layer by its name with dots, and by that with lines. */
function spellings(rows: Rows): Map<string, Layer> {
  const all = new Map<string, Layer>();
  for (const [row, shape] of Object.entries(rows)) {
    for (const name of expand(row)) {
      for (const spelled of [name, name.replaceAll('.', '_')]) all.set(spelled, { name, shape: shape! });
    }
  }
  return all;
}

/** `a.{0,1}.{b,c}` as the four names that it stands for. */
export function expand(row: string): string[] {
  const [whole, choices] = /\{([^}]+)\}/.exec(row) ?? [];
  if (whole === undefined) return [row];
  return choices!.split(',').flatMap((choice) => expand(row.replace(whole, choice)));
}

const keyPattern = new RegExp(
  `^(?<layer>.+?)(?:\\.|_(?=lora\\.))(?<part>${table.part})(?:\\.default)?(?:\\.weight)?$`,
);
const factorNames = new Map(Object.entries(table.factors));
const magnitudes = ['lora_magnitude_vector', 'dora_scale'];

/** Why a tensor does not fit that is none of an adapter's. */
export const noPart = 'is no part of a LoRA, LoHa, LoKr or DoRA';

interface Patch {
  layer: Layer;
  /** A tensor's name and shape, by its part. */
  parts: Map<string, { tensor: string; shape: number[] }>;
}

function judge(tensors: AdapterFile['tensors'], base: BaseModel, form: Form): Finding {
  const patches = new Map<string, Patch>();
  const misfits: Misfit[] = [];
  for (const [name, tensor] of tensors) {
    const why = take(name, tensor, base, form, patches);
    if (why !== null) misfits.push({ tensor: name, why });
  }
  const kinds = new Set<string>();
  const ranks = new Set<number>();
  for (const { layer, parts } of patches.values()) {
    const factors = factorsOf(parts);
    const misfit = misfitOf(layer, parts, factors);
    if (misfit !== null) misfits.push(misfit);
    const isDora = magnitudes.some((piece) => parts.has(piece));
    kinds.add(`${kindOf(factors)}${isDora ? ' with DoRA' : ''}`);
    const rank = rankOf(factors);
    if (rank !== null) ranks.add(rank);
  }
  const adapter = {
    base,
    format: formatOf(tensors, base),
    kind: [...kinds].sort().join(' and '),
    ranks: [...ranks].sort((a, b) => a - b),
    layers: patches.size,
  };
  return { adapter, misfits };
}

/** Puts a tensor to the others of its layer. @returns why it does not fit, or null */
function take(name: string, tensor: Tensor, base: BaseModel, form: Form, patches: Map<string, Patch>) {
  const bare = name.replace(/^base_model\.model\./, '');
  if (table.textEncoders.some((one) => bare.startsWith(one))) {
    return 'changes a text encoder, which this service keeps as it is';
  }
  const { layer: spelled, part } = keyPattern.exec(name)?.groups ?? {};
  if (spelled === undefined || part === undefined) return noPart;
  const layer = form.find(spelled);
  if (layer === undefined) return `names no layer of ${base.name} that an adapter may change`;
  if (form.parts !== null && !form.parts.includes(part)) {
    return `has the name of a layer in the authors' code, of which only ${form.parts.join(', ')} can be read`;
  }
  const count = product(tensor.shape);
  if (!tensor.dtype.includes('F') && (count !== 1 || tensor.dtype === 'C64')) {
    return `has the type ${tensor.dtype}, which is none of weights`;
  }
  if (count === 0) return 'is empty';
  const patch = patches.get(layer.name) ?? { layer, parts: new Map() };
  patches.set(layer.name, patch);
  const piece = factorNames.get(part) ?? part;
  if (patch.parts.has(piece)) return `repeats ${patch.parts.get(piece)!.tensor}`;
  patch.parts.set(piece, { tensor: name, shape: tensor.shape });
  return null;
}

function factorsOf(parts: Patch['parts']): Record<string, number[]> {
  const factors = [...parts].filter(([piece]) => piece !== 'alpha' && !magnitudes.includes(piece));
  return Object.fromEntries(factors.map(([piece, { shape }]) => [piece, shape]));
}

function misfitOf({ shape }: Layer, parts: Patch['parts'], factors: Record<string, number[]>): Misfit | null {
  const { tensor } = [...parts.values()][0]!;
  if (kindOf(factors) === null) {
    const pieces = [...parts.keys()].sort().join(', ');
    return { tensor, why: `is one of ${pieces}, which make no whole patch of a layer` };
  }
  const size = shape.join(' × ');
  if (!fits(factors, shape)) {
    const sizes = Object.entries(factors).map(([piece, sides]) => `${piece} ${sides.join(' × ')}`);
    return { tensor, why: `does not fit: the layer has ${size}, and the file ${sizes.join(', ')}` };
  }
  const alpha = parts.get('alpha');
  if (alpha && product(alpha.shape) !== 1) {
    return { tensor: alpha.tensor, why: 'is an alpha of more than one number' };
  }
  const piece = magnitudes.find((one) => parts.has(one));
  const magnitude = parts.get(piece ?? '');
  if (!magnitude || magnitudeFits(piece!, magnitude.shape, shape)) return null;
  const lengths = magnitude.shape.join(' × ');
  return { tensor: magnitude.tensor, why: `has ${lengths} lengths, and the layer has ${size} weights` };
}

const formats: [prefix: RegExp, format: string][] = [
  [/^base_model\.model\./, 'PEFT'],
  [/^lycoris_|[._](lokr|hada)_\w+$/, 'LyCORIS'],
  [/^lora_(unet|transformer)_/, 'kohya'],
  [/^(model\.)?diffusion_model\./, 'ComfyUI'],
];

function formatOf(tensors: AdapterFile['tensors'], { part }: BaseModel): string {
  const names = [...tensors.keys()];
  const format = formats.find(([prefix]) => names.some((name) => prefix.test(name)))?.[1];
  return format ?? (names.some((name) => name.startsWith(`${part}.`)) ? 'diffusers' : 'bare names');
}
