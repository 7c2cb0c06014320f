import { createHash } from 'node:crypto';
import { fitProducts } from '../art/references/placement.ts';
import { fitForms } from '../art/references/relief.ts';
import type { ReferenceImage, References } from '../art/references/reference.ts';
import { Failure } from '../failure.ts';
import type { PaintRequest } from '../request.ts';
import { decodeReference, measureReference } from './decode-reference.ts';
import type { Measured } from './decode-reference.ts';
import { fetchReference } from './fetch-reference.ts';
import { UnreadableReference } from './unreadable-reference.ts';

/**
 * Fetches a request's reference images and decodes them at the size that its pictures need. It takes one after the
 * other, because each may need 160 MB while it is decoded.
 *
 * @throws Failure naming the image, or the signal's reason once it aborts.
 */
export async function readReferences(request: PaintRequest, signal: AbortSignal): Promise<References> {
  const { referenceMode: mode, preserveBranding, references } = request;
  const measured: Measured[] = [];
  for (const [index, { url }] of references.entries()) {
    const read = async (): Promise<Measured> => measureReference(await fetchReference(url, signal));
    measured.push(await named(index, read()));
    signal.throwIfAborted();
  }
  const sizes = (mode === 'exact_product' ? fitProducts : fitForms)(measured, request, preserveBranding);
  const images: ReferenceImage[] = [];
  for (const [index, found] of measured.entries()) {
    const image = await named(index, decodeReference(found, sizes[index]!));
    images.push({ ...image, sha256: createHash('sha256').update(found.file).digest('hex') });
    signal.throwIfAborted();
  }
  return { mode, preserveBranding, images };
}

async function named<T>(index: number, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UnreadableReference)) throw error;
    const { reason, message } = error;
    throw new Failure(reason, `Reference image ${index + 1} ${message}.`, index);
  }
}
