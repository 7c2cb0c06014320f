const quarterMs = 15 * 60 * 1000;

/** The beginning of the quarter of an hour that an instant is in: links to previews are signed as of then. */
export function quarterOf(ms: number): number {
  return Math.floor(ms / quarterMs) * quarterMs;
}

/** Temporary credentials of AWS, good for an hour from the quarter of an hour on in which they were issued. */
export interface LinkCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}
