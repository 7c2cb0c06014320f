import { open } from 'node:fs/promises';
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
  const fail = (what: string, cause?: unknown) => new Failure(`--adapter ${path} ${what}.`, 1, { cause });
  if (/\.(ckpt|pth?|bin|pkl|pickle)$/i.test(path)) throw fail(pickle);
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > maxFileBytes) throw fail(`has ${size.toLocaleString('en-US')} bytes, and 2 GiB are the most`);
    const read = async (position: number, length: number) =>
      (await file.read(Buffer.alloc(length), 0, length, position)).buffer;
    const start = await read(0, 8);
    // What torch.save writes: a ZIP file, or a bare pickle.
    if (start.toString('latin1', 0, 2) === 'PK' || (start[0] === 0x80 && start[1]! <= 5)) throw fail(pickle);
    const headerBytes = Number(start.readBigUInt64LE());
    if (size < 10) throw fail('is no .safetensors file: it is too short');
    if (headerBytes > maxHeaderBytes) throw fail('is no .safetensors file: its header would be too long');
    if (8 + headerBytes > size) throw fail('is not whole: it ends within its header');
    const header = parseHeader(await read(8, headerBytes), size - 8 - headerBytes, fail);
    return { path, sizeBytes: size, ...header };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw fail(code === 'EISDIR' ? 'is a folder' : `can't be read (${code})`, error);
  }
}

type Fail = (what: string) => Failure;

function parseHeader(bytes: Buffer, dataBytes: number, fail: Fail) {
  const header = parseJson(bytes);
  if (header === null || !isObject(header.value)) {
    throw fail('is no .safetensors file: its header is no JSON object');
  }
  if (header.repeated !== null) throw fail(`has a header with two entries for ${shown(header.repeated)}`);
  const { __metadata__: metadata = {}, ...entries } = header.value;
  if (!isObject(metadata) || !Object.values(metadata).every((value) => typeof value === 'string')) {
    throw fail('has metadata that are no texts');
  }
  const tensors = new Map<string, Tensor>();
  const spans: [begin: number, end: number, name: string][] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const { tensor, span } = parseEntry(name, entry, fail);
    tensors.set(name, tensor);
    spans.push([...span, name]);
  }
  if (tensors.size === 0) throw fail('holds no tensor');
  checkSpans(spans, dataBytes, fail);
  return { tensors, metadata: metadata as Record<string, string> };
}

function parseEntry(name: string, entry: unknown, fail: Fail) {
  const { dtype, shape, data_offsets: offsets } = isObject(entry) ? entry : {};
  const isWhole = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const isList = (value: unknown): value is number[] => Array.isArray(value) && value.every(isWhole);
  if (typeof dtype !== 'string' || !isList(shape) || !isList(offsets) || offsets.length !== 2) {
    throw fail(`has a header without type, shape and place of ${shown(name)}`);
  }
  if (!dtypes.includes(dtype))
    throw fail(`holds ${shown(name)} in a type that is not known, ${shown(dtype)}`);
  const [begin, end] = offsets as [number, number];
  const bytes = shape.reduce((product, side) => product * side, bytesOf(dtype));
  if (end - begin !== bytes)
    throw fail(`gives ${shown(name)} ${end - begin} bytes, and its shape needs ${bytes}`);
  return { tensor: { dtype, shape }, span: [begin, end] as const };
}

/** The tensors must fill the file: nothing is hidden between them or behind them. */
function checkSpans(spans: [number, number, string][], dataBytes: number, fail: Fail): void {
  let filled = 0;
  for (const [begin, end, name] of spans.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (begin < filled) throw fail(`holds ${shown(name)} in the place of another tensor`);
    if (begin > filled) throw fail(`has unused bytes before ${shown(name)}`);
    filled = end;
  }
  if (filled > dataBytes) throw fail(`is not whole: ${filled - dataBytes} bytes of its tensors are missing`);
  if (filled < dataBytes) throw fail(`goes on for ${dataBytes - filled} bytes behind its tensors`);
}
