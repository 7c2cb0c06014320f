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
export const previewKey = /^generations\/.*\/preview-\d+\.webp$/;

/** What lies in the bucket: sizes by key, which is all that the service looks at, and who keeps the copies in order. */
export function createBucket() {
  const sizes = new Map<string, number>();
  const deletions = new Map<string, { done: boolean }>();
  const makers = new Map<string, { by: Run; late: boolean }>();
  let copied = 0;
  /** By key. The same may be written again, by a run that another one overtook. */
  const uploads = new Map<string, number>();
  let uploaded = 0;
  function put(key: string, bytes: number): void {
    sizes.set(key, bytes);
    uploads.set(key, (uploaded += 1));
  }
  return {
    /** How many copies were made in all. */
    get copied() {
      return copied;
    },
    put,
    size: (key: string): number | null => sizes.get(key) ?? null,
    /** @param late whether a fault met the job, so that its caller may have given up. */
    copy(key: string, by: Run, late: boolean): void {
      if (!copyKey.test(key)) throw new Error(`no place for a copy: ${key}`);
      copied += 1;
      put(key, 1);
      makers.set(key, { by, late: late && deletions.get(key)?.done === true });
    },
    /** What lies there of a request: images, previews and copies, each with the number of its upload. */
    objectsOf: (requestId: string): string[] =>
      [...sizes.keys()]
        .filter((key) => key.includes(`/${requestId}/`))
        .map((key) => `${key} (upload ${uploads.get(key)})`),
    /** Somebody tries. Whether it arrives is another matter. @returns whose copy it is; null for an image. */
    askToDelete(key: string): string | null {
      const [, requestId] = copyKey.exec(key) ?? [];
      if (requestId === undefined && !key.startsWith('generations/'))
        throw new Error(`nobody deletes ${key}`);
      deletions.set(key, deletions.get(key) ?? { done: false });
      return requestId ?? null;
    },
    delete(key: string): void {
      sizes.delete(key);
      deletions.set(key, { done: true });
    },
    get images(): number {
      return [...sizes.keys()].filter((key) => !copyKey.test(key) && !previewKey.test(key)).length;
    },
    get previews(): number {
      return [...sizes.keys()].filter((key) => previewKey.test(key)).length;
    },
    /** The copies that are there now. */
    copies(): Copy[] {
      return [...sizes.keys()].flatMap((key) => {
        const maker = makers.get(key);
        if (maker === undefined) return [];
        const deletion = deletions.get(key);
        // What was deleted before it was made is as if nobody had tried.
        const wasAskedToGo = deletion !== undefined && !deletion.done;
        const requestId = copyKey.exec(key)![1]!;
        return [{ key, requestId, by: maker.by, wasAskedToGo, cameLate: maker.late }];
      });
    },
  };
}

/** The key that a path-style address names. */
export function keyOf(path: string): string {
  return decodeURIComponent(path.split('/').slice(2).join('/'));
}
