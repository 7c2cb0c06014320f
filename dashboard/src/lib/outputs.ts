import type { GenerationStatus, GenerationType, OutputFormat, StoredGeneration } from './types.ts';

export const formatLabels: Record<OutputFormat, string> = { png: 'PNG', webp: 'WebP', jpeg: 'JPEG' };
export const outputFormats = Object.keys(formatLabels) as OutputFormat[];

/** The seed of image `index` (from 0) of a request. With it that image alone can be made again. */
export function outputSeed(seed: number, index: number): number {
  return (seed + index) % 2 ** 32;
}

type Pictured = Pick<StoredGeneration, 'outputs' | 'previews' | 'width' | 'height'>;

/** What a small place shows of image `index`: its preview, or else the image, as for all that is older than previews. */
export function thumbnailOf(
  { outputs, previews }: Pick<Pictured, 'outputs' | 'previews'>,
  index: number,
): string {
  // While a new version of the service is brought out, the one before it may still answer.
  return (previews as Pictured['previews'] | undefined)?.[index] ?? outputs[index] ?? '';
}

/** The images of a request in small, to choose the one that is shown large. */
export function stripOf(request: Pictured & { seed: number }) {
  const pictures = request.outputs.map((_, i) => {
    const label = `Show image ${i + 1}, seed ${outputSeed(request.seed, i)}`;
    return { src: thumbnailOf(request, i), label };
  });
  return { label: 'Images of this request', pictures };
}

/** The longest side of a preview. */
const previewSidePx = 512;

/** Links for a place whose size depends on the window: the browser takes the preview where that is large enough. */
export function sourcesOf(request: Pictured, index: number): { src: string; srcSet?: string } {
  const { outputs, width, height } = request;
  const src = outputs[index] ?? '';
  const preview = thumbnailOf(request, index);
  if (preview === src) return { src };
  const previewWidth = Math.round(Math.min(1, previewSidePx / Math.max(width, height)) * width);
  return { src, srcSet: `${preview} ${previewWidth}w, ${src} ${width}w` };
}

/** The CSS width at which a large image fits into the window, at most its own. */
export function viewerWidth({ width, height }: Pick<Pictured, 'width' | 'height'>): string {
  return `min(${width}px, ${Math.round((72 * width * 1000) / height) / 1000}dvh)`;
}

/**
 * `aurora-9c8f2b1d-0-seed42.png`: the identity, the end of the request's id, the number of the image (from 0), and its
 * seed. The beginning of an id is a time, so that of two requests may be equal. The extension is that of the link.
 */
export function outputFileName(
  { requestId, identityName, seed }: { requestId: string; identityName: string; seed: number },
  index: number,
  link: string,
): string {
  const start = `${nameForFiles(identityName)}-${requestId.slice(-8)}-${index}`;
  return `${start}-seed${outputSeed(seed, index)}.${extensionOf(link)}`;
}

/** `2026-11-24-aurora-9c8f2b1d-0.png`: in a folder the files are in the order of the UTC days that they were made on. */
export function archivedFileName(
  { id, identity, createdAt }: Pick<StoredGeneration, 'id' | 'identity' | 'createdAt'>,
  index: number,
  link: string,
): string {
  const day = createdAt.slice(0, 10);
  return `${day}-${nameForFiles(identity.name)}-${id.slice(-8)}-${index}.${extensionOf(link)}`;
}

function extensionOf(link: string): string {
  return /\.(png|webp|jpg)$/.exec(new URL(link).pathname)?.[1] ?? 'png';
}

function nameForFiles(identityName: string): string {
  const name = identityName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return name || 'image';
}

export const statuses: readonly GenerationStatus[] = [
  'COMPLETED',
  'QUEUED',
  'PROCESSING',
  'FAILED',
  'TIMEOUT',
];

export const typeLabels: Record<GenerationType, string> = {
  text_to_image: 'Text to image',
  reference: 'Reference images',
  exact_product: 'Exact product',
};

/** What callers themselves bring about; everything else is the service's. */
const byCallers: Record<string, string> = {
  INVALID_PARAMETERS: 'The request: a reference image can’t be used',
  CONTENT_REFUSED: 'The request: a check refused its content',
  CANCELLED: 'The request: it was cancelled',
};

/** Whether a failure was the service's or the request's. */
export function causeText(errorCode: string | null): string {
  return byCallers[errorCode ?? ''] ?? 'The service, not your request';
}

/** A picture of a stored request. `index` is from 0. */
export interface PictureOf {
  requestId: string;
  index: number;
}

/** The playground's query that adds a picture to its reference images. People count from 1. */
export function asReferenceSearch({ requestId, index }: PictureOf): string {
  return `?${new URLSearchParams({ reference: requestId, image: String(index + 1) }).toString()}`;
}

export function readAsReference(parameters: URLSearchParams): PictureOf | null {
  const requestId = parameters.get('reference') ?? '';
  return requestId === '' ? null : { requestId, index: readImageNumber(parameters.get('image')) };
}

/** The index, from 0, for an image's number in an address. The first image for what is no number. */
export function readImageNumber(text: string | null): number {
  return /^[1-9]\d{0,3}$/.test(text ?? '') ? Number(text) - 1 : 0;
}
