import { ApiError } from '../../../api/api-error.ts';
import type { UploadFile } from '../../../api/upload-order.ts';
import { createWatched } from '../watched.ts';
import { addFiles, addUrl, inspectedAtOnce, readFile } from './add-references.ts';
import { referenceLimits } from './limits.ts';
import {
  referenceName,
  sendable,
  toReferenceBodies,
  type FileReference,
  type Reference,
  type ReferenceBody,
  type Upload,
} from './reference.ts';
import { createUploads, type Destination, type Uploads } from './uploads.ts';

export interface ReferenceState {
  items: readonly Reference[];
  /** What is being typed as an address, and what was wrong with it when it was to be added. */
  urlText: string;
  urlProblem: string | null;
  /** Why not everything was added. */
  note: string | null;
  /** For screen readers. */
  told: string;
}

interface Parts {
  get: () => ReferenceState;
  set: (change: Partial<ReferenceState>) => void;
  uploads: Uploads;
  now: () => number;
}

export type ReferenceStore = ReturnType<typeof createReferenceStore>;

const empty: ReferenceState = { items: [], urlText: '', urlProblem: null, note: null, told: '' };

/**
 * Holds the reference images of the form, in memory and outside of any component: leaving the screen, or choosing an
 * identity that takes none, loses nothing. Files are uploaded as soon as they are there. For `useSyncExternalStore`.
 */
export function createReferenceStore(upload: UploadFile, now: () => number = Date.now) {
  const { subscribe, get, set } = createWatched(empty);
  const report = (of: FileReference, state: Upload): void => {
    const items = get().items.map((item) =>
      item.kind === 'file' && item.id === of.id ? { ...item, upload: state } : item,
    );
    set({ items, ...told(of, state) });
  };
  const uploads = createUploads({ upload, now, report });
  const parts = { get, set, uploads, now };
  return { subscribe, state: get, ...editing(parts), ...sending(parts) };
}

function told({ file }: FileReference, upload: Upload): { told?: string } {
  if (upload.status === 'done') return { told: `${file.name} is uploaded.` };
  return upload.status === 'failed' ? { told: `${file.name}: ${upload.message}` } : {};
}

function editing({ get, set, uploads }: Parts) {
  return {
    /** Looks at files and begins to upload those that can be used. The others are named until the next change. */
    async addFiles(files: readonly File[], to: Destination): Promise<void> {
      const read = await Promise.all(files.slice(0, inspectedAtOnce).map(readFile));
      const { added, ...change } = addFiles(get().items, read, files.length - read.length);
      set(change);
      for (const item of added) void uploads.begin(item, to);
    },
    typeUrl: (urlText: string): void => set({ urlText, urlProblem: null }),
    offerUrl(urlText: string): void {
      set({ urlText, urlProblem: null, told: 'The address is in its field. Press Enter to add it.' });
    },
    /** Adds the address that was typed, if any. @returns whether nothing was wrong with it. */
    addTypedUrl(): boolean {
      const { items, urlText } = get();
      if (urlText.trim() === '') return true;
      const result = addUrl(items, urlText);
      if ('problem' in result) set({ urlProblem: result.problem });
      else set({ ...result, urlText: '', urlProblem: null, note: null });
      return !('problem' in result);
    },
    remove(id: string): void {
      const { items } = get();
      const gone = items.find((item) => item.id === id);
      if (gone === undefined) return;
      uploads.stop(id);
      const left = items.filter((item) => item !== gone);
      const count = `${sendable(left).length} of ${referenceLimits.maxItems} images`;
      set({
        items: left,
        note: null,
        urlProblem: null,
        told: `${referenceName(gone)} is removed. ${count}.`,
      });
    },
    retry(id: string, to: Destination): void {
      const item = get().items.find((one) => one.id === id);
      if (item?.kind === 'file') void uploads.begin(item, to);
    },
    /** Brings back what a former request had. */
    replace(references: readonly Reference[], to: Destination): void {
      for (const { id } of get().items) uploads.stop(id);
      const items = sendable(references).map((item) => ({ ...item, problem: null }));
      set({ ...empty, items });
      for (const item of items) {
        if (item.kind === 'file') uploads.usable(item, to).catch(() => {});
      }
    },
  };
}

function sending({ get, set, uploads, now }: Parts) {
  return {
    /** Forgets what was wrong the last time, and leaves only what is sent. @returns that */
    clearProblems(): Reference[] {
      const items = sendable(get().items).map((item) => ({ ...item, problem: null }));
      set({ items, note: null, urlProblem: null });
      return items;
    },
    /**
     * What a request names, once every file is uploaded for its license; uploads that have ended are renewed.
     * @throws ApiError, and the signal's reason when it was aborted.
     */
    ready(references: readonly Reference[], to: Destination, signal: AbortSignal): Promise<ReferenceBody[]> {
      const all = references.map(async ({ id }): Promise<ReferenceBody> => {
        const item = get().items.find((one) => one.id === id);
        if (item?.kind === 'url') return { url: item.url };
        if (item?.kind === 'file') return { uploadId: await uploads.usable(item, to) };
        throw new ApiError('A reference image was removed before it was sent.', {
          status: 0,
          code: 'REMOVED',
        });
      });
      return unlessAborted(Promise.all(all), signal);
    },
    /** The same without waiting; null while a file has yet to be uploaded. */
    bodies: (licenseId: string): ReferenceBody[] | null => toReferenceBodies(get().items, licenseId, now()),
    /** The newest of what is known about each. */
    latest(references: readonly Reference[]): Reference[] {
      const { items } = get();
      return references.map((reference) => items.find(({ id }) => id === reference.id) ?? reference);
    },
    /** Shows at each image what the service said. An upload that it refused is made anew the next time. */
    refuse(references: readonly Reference[], problems: ReadonlyMap<number, string>): void {
      const byId = new Map(references.map(({ id }, place) => [id, problems.get(place)]));
      const items = get().items.map((item): Reference => {
        const problem = byId.get(item.id);
        if (problem === undefined || item.kind === 'refused') return item;
        return item.kind === 'url'
          ? { ...item, problem }
          : { ...item, problem, upload: { status: 'waiting' } };
      });
      set({ items });
    },
  };
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
