import * as z from 'zod/mini';
import { codePoints } from '../base/fields.ts';

/** The limits of a reference image, whether it comes by URL or as an upload. */
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

/** Fetched for all requests of a license together, those that only try included. */
export const maxAddressesPerMinute = 40;

export type ReferenceFormat = 'png' | 'jpeg' | 'webp';

export const referenceUrlRule = 'must be an https:// URL in a string';

/** What a URL's text must not look like, and the rule that it breaks then, in the order in which they are told. */
const textRules: [broken: RegExp, rule: string][] = [
  [/\p{Surrogate}/u, 'must not contain a lone surrogate'],
  // The parser would drop tabs and line breaks, trim, and take backslashes for slashes.
  // oxlint-disable-next-line no-control-regex -- it is control characters that are looked for.
  [/[\x00-\x20\x7f]/, 'must not contain white space or control characters: write %20 for a space'],
  [/\\/, 'must not contain backslashes: write / for one'],
  [/^(?!https:\/\/)/i, 'must begin with https://'],
  [/^https:\/\/([/?#]|$)/i, 'must have a host name after https://'],
  [/^https:\/\/[^/?#]*@/i, 'must not contain a user or a password'],
];

/**
 * Checks the rules that the text of a reference's URL alone can break. The URL parser turns every spelling of an IPv4 address
 * into one form (WHATWG URL, "host parsing"), so one check of the host is enough.
 * @returns the rule that is broken, as the end of a sentence.
 */
export function referenceUrlProblem(text: string): string | null {
  const { maxUrlCharacters } = referenceLimits;
  if (codePoints(text) > maxUrlCharacters) return `must be at most ${maxUrlCharacters} characters`;
  const broken = textRules.find(([pattern]) => pattern.test(text));
  if (broken) return broken[1];
  const url = URL.parse(text);
  if (url === null) return 'must have a valid host name, and no port';
  if (url.port !== '') return 'must not have a port';
  if (/^(\[|[\d.]+$)/.test(url.hostname)) return 'must have a host name, not an IP address';
  const isFull = /^[^.]+(\.[^.]+)+\.?$/.test(url.hostname);
  return isFull ? null : 'must have a full host name, as in shop.example.com';
}

/** @returns null for what may not be fetched. */
export function parseReferenceUrl(text: string): URL | null {
  return referenceUrlProblem(text) === null ? new URL(text) : null;
}

/** The same rules for the JSON Schema, as far as it can say them. It can't say the rules for the host. */
export const referenceUrlShape = {
  maxLength: referenceLimits.maxUrlCharacters,
  pattern:
    '^[Hh][Tt][Tt][Pp][Ss]://[^/?#@\\u0000-\\u0020\\u007f\\\\]+([/?#][^\\u0000-\\u0020\\u007f\\\\]*)?$',
};

/** The input of the function that fetches references. */
export interface FetchReferencesCommand {
  /** For the log. */
  requestId: string;
  items: ReferenceSource[];
}

export type ReferenceOrigin =
  /** Somebody else's address. */
  | { kind: 'url'; url: string }
  /** A link of the service's own, to a file that was uploaded. */
  | { kind: 'upload'; getLink: string };

/** Where an image comes from, and the link to store it at: null when it is only checked. */
export type ReferenceSource = ReferenceOrigin & { putLink: string | null };

/** Its output, one entry for each item in their order: null when the image can be used, or what is wrong with it. */
export const fetchReferencesAnswer = z.object({
  problems: z
    .array(z.nullable(z.string().check(z.maxLength(500))))
    .check(z.maxLength(referenceLimits.maxItems)),
});

export type FetchReferencesAnswer = z.infer<typeof fetchReferencesAnswer>;
