import table from './layers.json' with { type: 'json' };
import type { AdapterFile, Tensor } from './file.ts';
import { fits, kindOf, magnitudeFits, product, rankOf } from './patch.ts';

/*
 * What an adapter is, by its tensors' names and shapes. The table is written from the model server's own code, and the
 * rules are those of its `adapters/file.py`: what is taken here it can read, as far as names,
 * shapes and types tell.
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
  const found = new Set<string>();
  const ranks = new Set<number>();
  for (const patch of patches.values()) {
    const { kind, rank, misfit } = judgePatch(patch);
    if (misfit) misfits.push(misfit);
    if (kind !== null) found.add(kind);
    if (rank !== null) ranks.add(rank);
  }
  const kind = [...found].sort().join(' and ') || 'nothing';
  const adapter = {
    base,
    format: formatOf(tensors, base),
    kind,
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
  if (spelled === undefined || part === undefined) return 'is no part of a LoRA, LoHa, LoKr or DoRA';
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

interface Verdict {
  kind: string | null;
  rank: number | null;
  misfit: Misfit | null;
}

function judgePatch({ layer, parts }: Patch): Verdict {
  const factors: Record<string, number[]> = {};
  for (const [piece, { shape }] of parts) {
    if (piece !== 'alpha' && !magnitudes.includes(piece)) factors[piece] = shape;
  }
  const [first] = [...parts.values()];
  const misfit = (why: string, tensor = first!.tensor): Verdict => ({
    kind: null,
    rank: null,
    misfit: { tensor, why },
  });
  const kind = kindOf(factors);
  if (kind === null) {
    return misfit(`is one of ${[...parts.keys()].sort().join(', ')}, which make no whole patch of a layer`);
  }
  if (!fits(factors, layer.shape)) {
    const sizes = Object.entries(factors).map(([piece, shape]) => `${piece} ${shape.join(' × ')}`);
    return misfit(`does not fit: the layer has ${layer.shape.join(' × ')}, and the file ${sizes.join(', ')}`);
  }
  const alpha = parts.get('alpha');
  if (alpha && product(alpha.shape) !== 1) return misfit('is an alpha of more than one number', alpha.tensor);
  const magnitude = magnitudes.find((piece) => parts.has(piece));
  if (magnitude !== undefined) {
    const { tensor, shape } = parts.get(magnitude)!;
    if (!magnitudeFits(magnitude, shape, layer.shape)) {
      return misfit(
        `has ${shape.join(' × ')} lengths, and the layer has ${layer.shape.join(' × ')} weights`,
        tensor,
      );
    }
  }
  return {
    kind: magnitude === undefined ? kind : `${kind} with DoRA`,
    rank: rankOf(factors),
    misfit: null,
  };
}

const formats: [prefix: RegExp, format: string][] = [
  [/^lycoris_|[._](lokr|hada)_\w+$/, 'LyCORIS'],
  [/^lora_(unet|transformer)_/, 'kohya'],
  [/^base_model\.model\./, 'PEFT'],
  [/^(model\.)?diffusion_model\./, 'ComfyUI'],
];

function formatOf(tensors: AdapterFile['tensors'], { part }: BaseModel): string {
  const names = [...tensors.keys()];
  const format = formats.find(([prefix]) => names.some((name) => prefix.test(name)))?.[1];
  return format ?? (names.some((name) => name.startsWith(`${part}.`)) ? 'diffusers' : 'bare names');
}
