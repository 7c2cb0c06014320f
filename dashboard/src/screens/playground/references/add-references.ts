import { formatCount } from '../../../lib/format.ts';
import { inspectFile } from './inspect-file.ts';
import { referenceLimits } from './limits.ts';
import {
  freePlaces,
  referenceName,
  sendable,
  type FileReference,
  type Reference,
  type RefusedFile,
  type UrlReference,
} from './reference.ts';
import { readReferenceUrl } from './reference-url.ts';

/** Whoever drops the files of a whole folder means something else. */
export const inspectedAtOnce = 20;
const shownRefusals = 4;

export interface Added {
  items: Reference[];
  added: FileReference[];
  /** Why not everything was added, null when nothing is missing unsaid. */
  note: string | null;
  /** All of it in sentences, for screen readers. */
  told: string;
}

export async function readFile(file: File): Promise<FileReference | RefusedFile> {
  const id = crypto.randomUUID();
  const inspected = await inspectFile(file);
  if ('problem' in inspected) return { kind: 'refused', id, name: file.name, problem: inspected.problem };
  return { kind: 'file', id, file, picture: inspected.picture, problem: null, upload: { status: 'waiting' } };
}

/** Puts files that were looked at beside what is there, as far as there is room. `unread` were too many to look at. */
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
  const told = [
    added.length === 0 ? '' : `Added: ${added.map(({ file }) => file.name).join(', ')}.`,
    ...refused.map(({ name, problem }) => `${name} is not used. ${problem}`),
    note ?? '',
    known === 0 ? '' : `${formatCount(known, 'file')} ${known === 1 ? 'is' : 'are'} there already.`,
  ];
  return { items: [...kept, ...added, ...refused], added, note, told: told.filter(Boolean).join(' ') };
}

function leftOut(count: number, full: boolean): string {
  const files = `${formatCount(count, 'file')} ${count === 1 ? 'was' : 'were'} left out`;
  return full ? `At most ${referenceLimits.maxItems} images: ${files}.` : `${files}.`;
}

/** A file that was chosen twice is another object each time. */
function isThere(file: File, items: readonly Reference[]): boolean {
  return items.some(
    (item) =>
      item.kind === 'file' &&
      item.file.name === file.name &&
      item.file.size === file.size &&
      item.file.lastModified === file.lastModified,
  );
}

/** What was typed as an address, beside what is there, or why it can't be. */
export function addUrl(
  items: readonly Reference[],
  typed: string,
): { items: Reference[]; told: string } | { problem: string } {
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
  return { items: [...sendable(items), item], told: `Added: ${referenceName(item)}.` };
}
