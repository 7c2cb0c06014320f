import { open, type FileHandle } from 'node:fs/promises';
import { isObject, parseJson } from './json.ts';
import { Failure } from '../../common/failure.ts';

/*
 * The header of a .safetensors file: eight bytes with the length of a JSON object, that object, then the tensors'
 * bytes without a gap (https://github.com/huggingface/safetensors#format). Nothing else of the file is read here, and
 * what is no such file is never opened by anything that could run it.
 */

export interface Tensor {
  dtype: string;
  shape: number[];
}

export interface AdapterFile {
  path: string;
  sizeBytes: number;
  tensors: ReadonlyMap<string, Tensor>;
  /** What the trainer wrote down. It may be anything. */
  metadata: Readonly<Record<string, string>>;
}

/** A stranger's name, as much of it as helps. */
export const shown = (name: string) => (name.length > 120 ? `${name.slice(0, 120)}…` : name);

/** What the model server takes (`LIMIT_BYTES` in inference/model_server/adapters.py). */
const maxFileBytes = 2 * 1024 ** 3;
/** The format's own limit. */
const maxHeaderBytes = 100_000_000;

const dtypes = 'BOOL U8 I8 F8_E4M3 F8_E5M2 F8_E8M0 U16 I16 F16 BF16 U32 I32 F32 U64 I64 F64 C64'.split(' ');
const bytesOf = (dtype: string) => Number(/\d+/.exec(dtype)?.[0] ?? 8) / 8;

const pickle =
  'is a pickle, which can run code when it is loaded, so it was not read: convert it to .safetensors where you trust it';

/** @throws Failure naming the file and what is wrong with it */
export async function readAdapterFile(path: string): Promise<AdapterFile> {
  try {
    if (/\.(ckpt|pth?|bin|pkl|pickle)$/i.test(path)) throw new Failure(pickle);
    await using file = await open(path);
    const { size } = await file.stat();
    return { path, sizeBytes: size, ...(await readHeader(file, size)) };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what = code === 'EISDIR' ? 'is a folder' : `can't be read (${code})`;
    throw new Failure(`--adapter ${path} ${cause instanceof Failure ? cause.message : what}.`, 1, { cause });
  }
}

async function readHeader(file: FileHandle, size: number) {
  if (size > maxFileBytes) {
    throw new Failure(`has ${size.toLocaleString('en-US')} bytes, and 2 GiB are the most`);
  }
  const read = async (position: number, length: number) =>
    (await file.read(Buffer.alloc(length), 0, length, position)).buffer;
  const start = await read(0, 8);
  if (size < 10) throw new Failure('is no .safetensors file: it is too short');
  const headerBytes = Number(start.readBigUInt64LE());
  if (8 + headerBytes > size) {
    // What torch.save writes: a ZIP file, or a bare pickle.
    const isPickle = start.toString('latin1', 0, 2) === 'PK' || (start[0] === 0x80 && start[1]! <= 5);
    throw new Failure(isPickle ? pickle : 'is not whole, or no .safetensors file: it ends within its header');
  }
  if (headerBytes > maxHeaderBytes) throw new Failure('is no .safetensors file: its header is too long');
  return parseHeader(await read(8, headerBytes), size - 8 - headerBytes);
}

function parseHeader(bytes: Buffer, dataBytes: number) {
  const { value, repeated } = parseJson(bytes) ?? { value: null, repeated: null };
  if (!isObject(value)) throw new Failure('is no .safetensors file: its header is no JSON object');
  if (repeated !== null) throw new Failure(`has a header with two entries for ${shown(repeated)}`);
  const { __metadata__: metadata = {}, ...entries } = value;
  if (!isObject(metadata) || !Object.values(metadata).every((text) => typeof text === 'string')) {
    throw new Failure('has metadata that are no texts');
  }
  const tensors = new Map(Object.entries(entries).map(([name, entry]) => [name, parseEntry(name, entry)]));
  if (tensors.size === 0) throw new Failure('holds no tensor');
  checkSpans(tensors, dataBytes);
  return { tensors, metadata: metadata as Record<string, string> };
}

/** Longer than any layer's name, and so short that no pattern takes long to try. */
const maxNameCharacters = 500;

function parseEntry(name: string, entry: unknown): Tensor & { span: number[] } {
  if (name.length > maxNameCharacters) {
    throw new Failure(`holds a tensor whose name has more than ${maxNameCharacters} characters`);
  }
  const { dtype, shape, data_offsets: span } = isObject(entry) ? entry : {};
  const isWhole = (number: unknown) => Number.isSafeInteger(number) && (number as number) >= 0;
  const isList = (list: unknown): list is number[] => Array.isArray(list) && list.every(isWhole);
  if (typeof dtype !== 'string' || !isList(shape) || !isList(span) || span.length !== 2) {
    throw new Failure(`has a header without type, shape and place of ${shown(name)}`);
  }
  if (!dtypes.includes(dtype)) {
    throw new Failure(`holds ${shown(name)} in a type that is not known, ${shown(dtype)}`);
  }
  const needed = shape.reduce((product, side) => product * side, bytesOf(dtype));
  const bytes = span[1]! - span[0]!;
  if (bytes !== needed) {
    throw new Failure(`gives ${shown(name)} ${bytes} bytes, and its shape needs ${needed}`);
  }
  return { dtype, shape, span };
}

/** The tensors must fill the file: nothing is hidden between them or behind them. */
function checkSpans(tensors: ReadonlyMap<string, { span: number[] }>, dataBytes: number): void {
  const spans = [...tensors].map(([name, { span }]) => ({ name, begin: span[0]!, end: span[1]! }));
  let filled = 0;
  for (const { name, begin, end } of spans.sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < filled) throw new Failure(`holds ${shown(name)} in the place of another tensor`);
    if (begin > filled) throw new Failure(`has unused bytes before ${shown(name)}`);
    filled = end;
  }
  const missing = filled - dataBytes;
  if (missing > 0) throw new Failure(`is not whole: ${missing} bytes of its tensors are missing`);
  if (missing < 0) throw new Failure(`goes on for ${-missing} bytes behind its tensors`);
}
