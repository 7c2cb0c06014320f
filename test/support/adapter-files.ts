import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expand } from '../../bin/admin/adapter/recognise.ts';

/** A file as the table describes it: tensors, or a header and so many bytes behind it, or all of its bytes. */
export interface AdapterCase {
  name: string;
  file?: string;
  /** [dtype, ...shape] by a name as the table of layers spells it. */
  tensors?: Record<string, [string, ...number[]]>;
  metadata?: Record<string, string>;
  header?: string;
  data?: number;
  /** Latin-1. */
  bytes?: string;
  /** Of a good one: where its layout is published. */
  source?: string;
  found?: string;
  /** Of a broken one: what it is refused with. */
  says?: string;
}

/** The files that the model server's tests read too. */
export const adapterCases = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../inference/tests/adapter_files.json'), 'utf8'),
) as { good: AdapterCase[]; broken: AdapterCase[] };

const bytesOf: Record<string, number> = { F32: 4, F16: 2, BF16: 2, I64: 8, I8: 1, C64: 8 };

/** @returns its path */
export function writeAdapter(folder: string, name: string, of: AdapterCase): string {
  const path = join(folder, of.file ?? `${name}.safetensors`);
  writeFileSync(path, of.bytes === undefined ? whole(of) : Buffer.from(of.bytes, 'latin1'));
  return path;
}

function whole({ tensors = {}, metadata, header, data = 0 }: AdapterCase): Buffer {
  let end = 0;
  const entries: Record<string, unknown> = metadata ? { __metadata__: metadata } : {};
  for (const [row, [dtype, ...shape]] of Object.entries(tensors)) {
    for (const name of expand(row)) {
      const begin = end;
      end += shape.reduce((product, side) => product * side, bytesOf[dtype]!);
      entries[name] = { dtype, shape, data_offsets: [begin, end] };
    }
  }
  const text = Buffer.from(header ?? JSON.stringify(entries));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.alloc(header === undefined ? end : data)]);
}
