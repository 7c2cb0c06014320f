import { formatCount, formatFileSize } from '../../../lib/format.ts';
import { countCharacters } from '../../../lib/text.ts';
import { imageFormat, imageSize } from '../../../../../shared/images/image-size.ts';
import {
  freePlaces,
  referenceLimits,
  referenceName,
  sendable,
  type FileReference,
  type Reference,
  type RefusedFile,
  type UrlReference,
  type Picture,
} from './reference.ts';

/** More files are dropped by mistake, as a whole folder. */
export const inspectedAtOnce = 20;
const shownRefusals = 4;

interface Added {
  items: Reference[];
  added: FileReference[];
  /** Why some files were left out. Null when none was. */
  note: string | null;
  /** For screen readers. */
  announcement: string;
}

export async function readFile(file: File): Promise<FileReference | RefusedFile> {
  const id = crypto.randomUUID();
  const inspected = await inspectFile(file);
  if ('problem' in inspected) return { kind: 'refused', id, name: file.name, problem: inspected.problem };
  return { kind: 'file', id, file, picture: inspected.picture, problem: null, upload: { status: 'waiting' } };
}

/** Adds inspected files as far as there is room. `unread` is the number of files that were not inspected. */
export function addFiles(
  items: readonly Reference[],
  files: readonly (FileReference | RefusedFile)[],
  unread: number,
): Added {
  const kept = sendable(items);
  const known = files.filter((item) => item.kind === 'file' && isThere(item.file, kept)).length;
  const fine = files.filter((item) => item.kind === 'file' && !isThere(item.file, kept)) as FileReference[];
  const added = fine.slice(0, freePlaces(kept));
  const wrong = files.filter((item) => item.kind === 'refused');
  const refused = wrong.slice(0, shownRefusals);
  const left = fine.length - added.length + wrong.length - refused.length + unread;
  const note = left === 0 ? null : leftOut(left, fine.length > added.length);
  const announcement = [
    added.length === 0 ? '' : `Added: ${added.map(({ file }) => file.name).join(', ')}.`,
    ...refused.map(({ name, problem }) => `${name} is not used. ${problem}`),
    note ?? '',
    known === 0 ? '' : `${formatCount(known, 'file')} ${known === 1 ? 'is' : 'are'} there already.`,
  ];
  return {
    items: [...kept, ...added, ...refused],
    added,
    note,
    announcement: announcement.filter(Boolean).join(' '),
  };
}

function leftOut(count: number, full: boolean): string {
  const files = `${formatCount(count, 'file')} ${count === 1 ? 'was' : 'were'} left out`;
  return full ? `At most ${referenceLimits.maxItems} images: ${files}.` : `${files}.`;
}

/** Compares by properties: choosing a file twice makes two objects. */
function isThere(file: File, items: readonly Reference[]): boolean {
  return items.some(
    (item) =>
      item.kind === 'file' &&
      item.file.name === file.name &&
      item.file.size === file.size &&
      item.file.lastModified === file.lastModified,
  );
}

/** Adds an address that was typed, or says why it can't be added. */
export function addUrl(
  items: readonly Reference[],
  typed: string,
): { items: Reference[]; announcement: string } | { problem: string } {
  const read = readReferenceUrl(typed);
  if ('problem' in read) return read;
  const { url } = read;
  if (items.some((item) => item.kind === 'url' && item.url === url)) {
    return { problem: 'This address is there already.' };
  }
  if (freePlaces(items) === 0) {
    return { problem: `At most ${referenceLimits.maxItems} images. Remove one first.` };
  }
  const item: UrlReference = { kind: 'url', id: crypto.randomUUID(), url, problem: null };
  return { items: [...sendable(items), item], announcement: `Added: ${referenceName(item)}.` };
}

/**
 * Reads an address that was typed or pasted. It accepts what the service accepts. The page itself never loads the image.
 */
export function readReferenceUrl(typed: string): { url: string } | { problem: string } {
  const url = typed.trim();
  const problem = problemOf(url);
  return problem === null ? { url } : { problem };
}

function problemOf(text: string): string | null {
  const { maxUrlCharacters } = referenceLimits;
  if (text === '') return 'Enter the address of an image.';
  if (/^http:\/\//i.test(text)) return 'Only https:// addresses can be fetched.';
  if (!/^https:\/\//i.test(text)) return 'An address begins with https://.';
  if (countCharacters(text) > maxUrlCharacters) return `At most ${maxUrlCharacters} characters.`;
  // oxlint-disable-next-line no-control-regex -- a browser's parser drops them, the service refuses them.
  if (/[\x00-\x20\x7f\\]/.test(text) || !text.isWellFormed()) {
    return 'It holds a space or another character that an address can’t have.';
  }
  const url = URL.parse(text);
  if (
    url === null ||
    !/^https:\/\/[^/?#@]+([/?#]|$)/i.test(text) ||
    url.port !== '' ||
    !hasName(url.hostname)
  ) {
    return 'It needs a host name, and no user, password, port or IP address.';
  }
  return null;
}

/** `shop.example`, and not an IP address, which the parser writes in one form however it was spelled. */
function hasName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && /^[^.[]+(\.[^.]+)+\.?$/.test(host);
}

const headBytes = 64 * 1024;

/**
 * Checks a file by its first bytes before it is sent. The service checks more.
 * @returns the picture, or a sentence why it can't be used.
 */
export async function inspectFile(file: Blob): Promise<{ picture: Picture } | { problem: string }> {
  const { maxBytes } = referenceLimits;
  try {
    const head = await bytesOf(file.slice(0, headBytes));
    if (head.length === 0) return { problem: 'It is empty.' };
    const format = imageFormat(head);
    if (format === null) return { problem: unusable(head) };
    if (file.size > maxBytes) {
      return {
        problem: `It has ${formatFileSize(file.size)}; at most ${formatFileSize(maxBytes)} can be sent.`,
      };
    }
    // The size of a JPEG stands behind the camera's data, which may be longer than the beginning.
    const size =
      imageSize(format, head) ?? (format === 'jpeg' ? imageSize(format, await bytesOf(file)) : null);
    if (size === null) return { problem: 'It seems to be damaged: its size can’t be read.' };
    const problem = sizeProblem(size.widthPx, size.heightPx);
    return problem === null ? { picture: { format, ...size } } : { problem };
  } catch {
    return { problem: 'It can’t be read. It may be a folder, or have been moved.' };
  }
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}

function sizeProblem(widthPx: number, heightPx: number): string | null {
  const { minSidePx, maxSidePx, maxPixels } = referenceLimits;
  const is = `It has ${widthPx} × ${heightPx} pixels`;
  if (Math.min(widthPx, heightPx) < minSidePx) return `${is}; each side needs at least ${minSidePx}.`;
  if (Math.max(widthPx, heightPx) > maxSidePx) return `${is}; a side may have at most ${maxSidePx}.`;
  const megapixels = maxPixels / 1_000_000;
  return widthPx * heightPx > maxPixels ? `${is}; at most ${megapixels} megapixels can be used.` : null;
}

function unusable(head: Uint8Array): string {
  const text = new TextDecoder().decode(head);
  if (/^\s*</.test(text) && /<svg[\s>]/i.test(text)) return 'SVG drawings can’t be used. Save it as PNG.';
  if (text.startsWith('GIF8')) return 'GIF images can’t be used. Save it as PNG.';
  if (text.startsWith('%PDF')) return 'PDF files can’t be used. Save the picture as PNG.';
  const brand = ascii(head, 4, 12);
  if (/^ftyp(heic|heix|heim|heis|mif1|msf1)/.test(brand))
    return 'HEIC photos can’t be used. Save it as JPEG.';
  if (/^ftypavi[fs]/.test(brand)) return 'AVIF images can’t be used. Save it as PNG.';
  return 'It is not a PNG, JPEG or WebP image.';
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
