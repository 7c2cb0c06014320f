import * as z from 'zod/mini';
import { codePoints, isCleanText } from './fields.ts';

/** What a reference image may be, however it arrives: a picture that a model can look at, and nothing else. */
export const referenceLimits = {
  /** Per request. */
  maxItems: 4,
  maxBytes: 10 * 1024 * 1024,
  /** Decoded: a small file can hold a huge picture. */
  maxPixels: 40_000_000,
  minSidePx: 64,
  maxSidePx: 8192,
  maxUrlCharacters: 2048,
} as const;

export type ReferenceFormat = 'png' | 'jpeg' | 'webp';

export const referenceUrlRule =
  `must be an https:// URL of at most ${referenceLimits.maxUrlCharacters} characters ` +
  'with a host name, and without user, password or port';

/**
 * A URL that a reference image may be fetched from, as far as its text tells. The parser writes an IPv4 address in
 * one form, however it was spelled (WHATWG URL, "host parsing"), so one look at the host is enough.
 * @returns null for any other text.
 */
export function parseReferenceUrl(text: string): URL | null {
  if (codePoints(text) > referenceLimits.maxUrlCharacters || !isCleanText(text)) return null;
  // The parser drops tabs and new lines, trims, and takes backslashes for slashes. Nobody means that.
  // oxlint-disable-next-line no-control-regex -- it is control characters that are looked for.
  if (!/^https:\/\/[^/?#@]+([/?#]|$)/i.test(text) || /[\x00-\x20\x7f\\]/.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.port !== '') return null;
  const isAddress = url.hostname.startsWith('[') || /^[\d.]+$/.test(url.hostname);
  return !isAddress && /^[^.]+(\.[^.]+)+\.?$/.test(url.hostname) ? url : null;
}

/** As much of it as a JSON Schema can tell. What the host may be, only the parser knows. */
export const referenceUrlShape = {
  maxLength: referenceLimits.maxUrlCharacters,
  pattern:
    '^[Hh][Tt][Tt][Pp][Ss]://[^/?#@\\u0000-\\u0020\\u007f\\\\]+([/?#][^\\u0000-\\u0020\\u007f\\\\]*)?$',
};

/** What the function that fetches references is asked. */
export interface FetchReferencesOrder {
  /** For the log. */
  requestId: string;
  items: ReferenceSource[];
}

export type ReferenceOrigin =
  /** Somebody else's address. */
  | { kind: 'url'; url: string }
  /** A link of the service's own, to a file that was uploaded. */
  | { kind: 'upload'; getLink: string };

/** Where an image comes from, and the link to put it to; null when it is only to be looked at. */
export type ReferenceSource = ReferenceOrigin & { putLink: string | null };

/** What it answers for each item, in their order: null when the image can be used, or what is wrong with it. */
export const fetchReferencesAnswer = z.object({
  problems: z
    .array(z.nullable(z.string().check(z.maxLength(500))))
    .check(z.maxLength(referenceLimits.maxItems)),
});

export type FetchReferencesAnswer = z.infer<typeof fetchReferencesAnswer>;
