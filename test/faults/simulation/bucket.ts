export type Bucket = ReturnType<typeof createBucket>;

/** What lies in the bucket: sizes by key, which is all that the service looks at. */
export function createBucket() {
  const sizes = new Map<string, number>();
  return {
    put: (key: string, bytes: number) => void sizes.set(key, bytes),
    size: (key: string): number | null => sizes.get(key) ?? null,
    get count() {
      return sizes.size;
    },
  };
}

/** The key that a path-style address names. */
export function keyOf(path: string): string {
  return decodeURIComponent(path.split('/').slice(2).join('/'));
}
