import { ApiError } from '../../../api/api-error.ts';
import type { Api } from '../../../api/client.ts';
import type { ReferenceBody, UploadFile } from '../../../api/generate.ts';
import { createStore } from '../../../lib/store.ts';
import { addFiles, addUrl, inspectedAtOnce, readFile } from './add-references.ts';
import {
  referenceLimits,
  referenceName,
  sendable,
  toReferenceBodies,
  usableUploadId,
  type FileReference,
  type Reference,
  type Upload,
} from './reference.ts';

export interface ReferenceState {
  items: readonly Reference[];
  /** What is being typed as an address, and what was wrong with it when it was to be added. */
  urlText: string;
  urlProblem: string | null;
  /** Why not everything was added. */
  note: string | null;
  /** For screen readers. */
  announcement: string;
}

interface Parts {
  get: () => ReferenceState;
  set: (change: Partial<ReferenceState>) => void;
  uploads: Uploads;
  now: () => number;
}

export type ReferenceStore = ReturnType<typeof createReferenceStore>;

const empty: ReferenceState = { items: [], urlText: '', urlProblem: null, note: null, announcement: '' };

/**
 * Holds the reference images of the form. It is outside of any component, so that they outlive the screen and a change
 * of identity. Files are uploaded as soon as they are added.
 *
 * @param note what to say until the first change
 */
export function createReferenceStore(
  upload: UploadFile,
  now: () => number = Date.now,
  note: string | null = null,
) {
  const { subscribe, get, set } = createStore({ ...empty, note });
  const report = (of: FileReference, state: Upload): void => {
    const items = get().items.map((item) =>
      item.kind === 'file' && item.id === of.id ? { ...item, upload: state } : item,
    );
    set({ items, ...announcement(of, state) });
  };
  const uploads = createUploads({ upload, now, report });
  const parts = { get, set, uploads, now };
  return { subscribe, state: get, ...editing(parts), ...sending(parts) };
}

function announcement({ file }: FileReference, upload: Upload): { announcement?: string } {
  if (upload.status === 'done') return { announcement: `${file.name} is uploaded.` };
  return upload.status === 'failed' ? { announcement: `${file.name}: ${upload.message}` } : {};
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
      set({ urlText, urlProblem: null, announcement: 'The address is in its field. Press Enter to add it.' });
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
        announcement: `${referenceName(gone)} is removed. ${count}.`,
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
    /** Removes the problems of the last request and the refused files. @returns the references that are left. */
    clearProblems(): Reference[] {
      const items = sendable(get().items).map((item) => ({ ...item, problem: null }));
      set({ items, note: null, urlProblem: null });
      return items;
    },
    /**
     * The references of a request, once every file is uploaded. Uploads that have expired are made again.
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
    /** The same without waiting. Null while a file is not uploaded yet. */
    bodies: (licenseId: string): ReferenceBody[] | null => toReferenceBodies(get().items, licenseId, now()),
    latest(references: readonly Reference[]): Reference[] {
      const { items } = get();
      return references.map((reference) => items.find(({ id }) => id === reference.id) ?? reference);
    },
    /** Shows the service's refusals at their images. A refused upload is made again for the next request. */
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

export interface Destination {
  api: Api;
  licenseId: string;
}

interface UploadsOptions {
  upload: UploadFile;
  now: () => number;
  report: (item: FileReference, upload: Upload) => void;
}

type Uploads = ReturnType<typeof createUploads>;

/** The uploads that are under way, one for a file at most. */
function createUploads({ upload, now, report }: UploadsOptions) {
  const running = new Map<string, { licenseId: string; stop: AbortController; uploadId: Promise<string> }>();

  const stop = (id: string): void => {
    running.get(id)?.stop.abort();
    running.delete(id);
  };

  /** Uploads anew, whatever there was. The promise is for who waits for it; `report` is called all the same. */
  const begin = (item: FileReference, { api, licenseId }: Destination): Promise<string> => {
    stop(item.id);
    const controller = new AbortController();
    const { signal } = controller;
    const askedAtMs = now();
    const become = (state: Upload): void => {
      if (signal.aborted) return;
      if (state.status !== 'sending') running.delete(item.id);
      report(item, state);
    };
    become({ status: 'sending', share: 0 });
    const uploadId = upload(api, {
      licenseId,
      file: item.file,
      contentType: `image/${item.picture.format}`,
      onProgress: (share) => become({ status: 'sending', share }),
      signal,
    });
    running.set(item.id, { licenseId, stop: controller, uploadId });
    uploadId.then(
      (id) => become({ status: 'done', licenseId, uploadId: id, askedAtMs }),
      (error: unknown) => become({ status: 'failed', message: sentenceOf(error) }),
    );
    return uploadId;
  };

  /**
   * The id of an upload that can be used: the one that there is, that is under way, or a new one.
   * @throws ApiError naming the file
   */
  const usable = async (item: FileReference, to: Destination): Promise<string> => {
    const ready = usableUploadId(item.upload, to.licenseId, now());
    if (ready !== null) return ready;
    const under = running.get(item.id);
    try {
      return await (under?.licenseId === to.licenseId ? under.uploadId : begin(item, to));
    } catch (error) {
      throw failureOf(item, error);
    }
  };

  return { stop, begin, usable };
}

function sentenceOf(error: unknown): string {
  return error instanceof ApiError ? error.message : 'It could not be uploaded.';
}

function failureOf({ file }: FileReference, error: unknown): ApiError {
  const details = error instanceof ApiError ? error : { status: 0, code: 'UPLOAD_STOPPED' };
  return new ApiError(`${file.name} could not be uploaded. ${sentenceOf(error)}`, details);
}
