import type { Run } from './runs.ts';

export type Bucket = ReturnType<typeof createBucket>;

/** The copy of a reference image. */
export interface Copy {
  key: string;
  requestId: string;
  /** Whose request it was made for. */
  by: Run;
  /** Whether anybody ever tried to delete it. */
  wasAskedToGo: boolean;
  /** It came after it had been deleted, from a job for which nobody waited any more. */
  cameLate: boolean;
}

const copyKey = /^references\/[^/]+\/([^/]+)\/\d+$/;

/** What lies in the bucket: sizes by key, which is all that the service looks at, and where copies of references come from. */
export function createBucket() {
  const objects = new Map<
    string,
    { bytes: number; upload: number; copy: Pick<Copy, 'by' | 'cameLate'> | null }
  >();
  const deletions = new Map<string, { done: boolean }>();
  const buried = new Set<string>();
  const cancelled = new Set<string>();
  /** The models that look for flags, by request. */
  const watching = new Map<string, () => void>();
  /** Counts up: the same key may be written again, by a run that another one overtook. */
  let uploads = 0;
  return {
    put(key: string, bytes: number, copy: Pick<Copy, 'by' | 'cameLate'> | null = null): void {
      objects.set(key, { bytes, upload: (uploads += 1), copy });
    },
    size: (key: string): number | null => objects.get(key)?.bytes ?? null,
    /** @param late whether a fault met the job, so that its caller may have given up. */
    copy(key: string, by: Run, late: boolean): void {
      if (!copyKey.test(key)) throw new Error(`no place for a copy: ${key}`);
      this.put(key, 1, { by, cameLate: late && deletions.get(key)?.done === true });
    },
    /** What lies there of a request: images, previews and copies, each with the number of its upload. */
    objectsOf: (requestId: string): string[] =>
      [...objects]
        .filter(([key]) => key.includes(`/${requestId}/`))
        .map(([key, { upload }]) => `${key} (upload ${upload})`),
    /** Somebody tries. Whether it arrives is another matter. @returns whose copy it is; null for an image. */
    askToDelete(key: string): string | null {
      const [, requestId = null] = copyKey.exec(key) ?? [];
      if (requestId === null && !key.startsWith('generations/')) throw new Error(`nobody deletes ${key}`);
      deletions.set(key, deletions.get(key) ?? { done: false });
      return requestId;
    },
    /** Takes a tombstone or the flag of a cancellation, the only objects that the service itself puts. */
    mark(key: string): void {
      const [, kind, requestId] = /^(erased|cancelled)\/[^/]+\/([^/]+)$/.exec(key) ?? [];
      if (requestId === undefined) throw new Error(`the service puts no images: ${key}`);
      if (kind === 'erased') return void buried.add(requestId);
      cancelled.add(requestId);
      watching.get(requestId)?.();
    },
    isCancelled: (requestId: string) => cancelled.has(requestId),
    /** A model learns of a request's flag. */
    whenCancelled(requestId: string, stop: () => void): void {
      watching.set(requestId, stop);
      if (cancelled.has(requestId)) stop();
    },
    isBuried: (requestId: string) => buried.has(requestId),
    delete(key: string): void {
      objects.delete(key);
      deletions.set(key, { done: true });
    },
    /** The copies that are there now. */
    copies: (): Copy[] =>
      [...objects].flatMap(([key, { copy }]) => {
        if (copy === null) return [];
        // What was deleted before it was made is as if nobody had tried.
        const wasAskedToGo = deletions.get(key)?.done === false;
        return [{ key, requestId: copyKey.exec(key)![1]!, wasAskedToGo, ...copy }];
      }),
  };
}

/** The key that a path-style address names. */
export function keyOf(path: string): string {
  return decodeURIComponent(path.split('/').slice(2).join('/'));
}

export function keyOfLink(link: string): string {
  return keyOf(new URL(link).pathname);
}
