import { Readable } from 'node:stream';
import { readImage } from '../references/image-reader.ts';
import type { ImageForm } from './contract.ts';
import type { Generation } from '../generations/generation.ts';
import { ServiceError, type Words } from '../base/errors.ts';
import { ok, type Answer } from '../http/answer.ts';

/** Nothing is counted in tokens here. SDKs read these members without asking whether they are there. */
const usage = {
  total_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
};

/** The types of the last event of OpenAI's streams (`ImageGenStreamEvent`, `ImageEditStreamEvent`). */
export type CompletedEvent = 'image_generation.completed' | 'image_edit.completed';

/** A multiple of 3 bytes, so that the pieces of an image in base64 are the whole. */
const pieceBytes = 48 * 1024;

/**
 * The most that a file may have: four bytes for each pixel, more than any picture that is not compressed, and what its
 * metadata may take. Four images of the largest size are then 95 MB in base64; Lambda streams at most 200 MB.
 */
export function maxFileBytes({ width, height }: Pick<Generation, 'width' | 'height'>): number {
  return 4 * width * height + 1024 * 1024;
}

/**
 * Answers a completed request as OpenAI's two routes do. Where the images themselves are asked for, one
 * after another is read and sent piece by piece, so that a small function can send large ones. The first is read before the
 * status line is written.
 * @throws GENERATION_FAILED where it can't be read.
 */
export async function imagesAnswer(
  generation: Generation,
  links: readonly string[],
  form: ImageForm,
  event: CompletedEvent = 'image_generation.completed',
): Promise<Answer> {
  const { createdAtMs, outputFormat, width, height } = generation;
  const about = { output_format: outputFormat, size: `${width}x${height}`, usage };
  const created = Math.floor(createdAtMs / 1000);
  if (form === 'url') return ok({ created, data: links.map((url) => ({ url })), ...about });
  const content = { 'content-type': 'application/json' };
  if (form === 'both') {
    const stream = Readable.from(json(readable(generation, links), links, { created, ...about }));
    return { ...ok(undefined, content), stream };
  }
  const images = await openImages(generation, links);
  if (form === 'events')
    return { ...ok(undefined), stream: Readable.from(events(images, created, about, event)) };
  return { ...ok(undefined, content), stream: Readable.from(json(images, [], { created, ...about })) };
}

/** Each image, or null where it can't be read: its link is better than nothing for who named neither form. */
async function* readable(generation: Generation, links: readonly string[]): AsyncGenerator<Buffer | null> {
  for (const link of links) yield await readImage(link, maxFileBytes(generation)).catch(() => null);
}

async function openImages(
  generation: Generation,
  [firstLink, ...links]: readonly string[],
): Promise<AsyncIterable<Buffer>> {
  const maxBytes = maxFileBytes(generation);
  const first = await readImage(firstLink!, maxBytes).catch((cause: unknown) => {
    // Not SERVICE_UNAVAILABLE: SDKs repeat the request for that, and would pay for it again.
    const sentence = ({ refetch }: Words) =>
      `The images are finished and were charged, but they could not be read. ${refetch}.`;
    throw new ServiceError('GENERATION_FAILED', sentence, { cause, requestId: generation.requestId });
  });
  return (async function* () {
    yield first;
    for (const link of links) yield await readImage(link, maxBytes);
  })();
}

/** @param links one for each image, or none */
async function* json(
  images: AsyncIterable<Buffer | null>,
  links: readonly string[],
  about: object,
): AsyncGenerator<string> {
  const left = links.map((url) => `"url":${JSON.stringify(url)}`);
  let before = '{"data":[';
  for await (const image of images) {
    const url = left.shift() ?? '';
    yield `${before}{${url}`;
    if (image !== null) {
      yield `${url && ','}"b64_json":"`;
      yield* base64(image);
      yield '"';
    }
    yield '}';
    before = ',';
  }
  yield `],${JSON.stringify(about).slice(1)}`;
}

/** One event for each image, and none for partial ones: the model has no pictures before the last. */
async function* events(
  images: AsyncIterable<Buffer>,
  createdAt: number,
  about: object,
  type: CompletedEvent,
): AsyncGenerator<string> {
  const rest = JSON.stringify({
    type,
    created_at: createdAt,
    quality: 'auto',
    background: 'auto',
    ...about,
  });
  for await (const image of images) {
    yield `event: ${type}\ndata: {"b64_json":"`;
    yield* base64(image);
    yield `",${rest.slice(1)}\n\n`;
  }
}

function* base64(image: Buffer): Generator<string> {
  for (let at = 0; at < image.length; at += pieceBytes) {
    yield image.toString('base64', at, Math.min(at + pieceBytes, image.length));
  }
}
