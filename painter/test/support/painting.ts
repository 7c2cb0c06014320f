import { afterAll } from '@jest/globals';
import sharp from 'sharp';
import type { PictureOptions } from '../../src/art/paint.ts';
import { createPool } from '../../src/pool.ts';
import type { Pool } from '../../src/pool.ts';

/** The signal of a caller who never gives up. */
export const never = new AbortController().signal;

/** The smallest and cheapest picture; tests name only what they change. */
export const small: PictureOptions = {
  prompt: 'a quiet sea with a boat',
  negativePrompt: '',
  seed: 7,
  numInferenceSteps: 20,
  guidanceScale: 7.5,
  width: 512,
  height: 512,
  identityId: 'idn_test',
  style: 'harbor',
  outputFormat: 'png',
  embedParameters: false,
  withPreview: false,
};

let started: Pool | undefined;
afterAll(() => started?.close());

/** The worker threads of a test file. They paint outside Jest's sandbox, which makes painting slow. */
export function pool(): Pool {
  return (started ??= createPool(2));
}

export async function paintFile(changes: Partial<PictureOptions> = {}): Promise<Uint8Array> {
  return (await pool().paint({ ...small, ...changes }, never, () => undefined)).file;
}

export async function paint(changes: Partial<PictureOptions> = {}): Promise<DecodedPng> {
  return decodePng(await paintFile(changes));
}

export interface DecodedPng {
  width: number;
  height: number;
  /** 8-bit RGB, row by row. */
  bytes: Uint8Array;
}

/** Decodes an 8-bit RGB PNG; anything that the decoder warns of throws. */
export async function decodePng(file: Uint8Array): Promise<DecodedPng> {
  const image = sharp(file, { failOn: 'warning' });
  const { format, width, height, channels, depth } = await image.metadata();
  if (`${format} ${channels} ${depth}` !== 'png 3 uchar') throw new Error('it is no 8-bit RGB PNG');
  return { width, height, bytes: await image.raw().toBuffer() };
}

/** The JSON in a file's XMP. */
export async function readFacts(file: Uint8Array): Promise<unknown> {
  const { xmpAsString = '' } = await sharp(file).metadata();
  const [, json = ''] = /<rdf:li xml:lang="x-default">([^<]*)<\/rdf:li>/.exec(xmpAsString) ?? [];
  return JSON.parse(json.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
}
