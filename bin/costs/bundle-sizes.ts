import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

export function sizesOf(file: string): { bytes: number; gzipBytes: number } {
  const code = readFileSync(file);
  return { bytes: code.length, gzipBytes: gzipSync(code).length };
}
