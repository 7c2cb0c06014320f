import * as z from 'zod/mini';
import { codePoints, isCleanText } from './fields.ts';

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

/** What a URL's text can break before it is parsed, in the order in which it is told. */
const textRules: [isBroken: (text: string) => boolean, rule: string][] = [
  [
    (text) => codePoints(text) > referenceLimits.maxUrlCharacters,
    `must be at most ${referenceLimits.maxUrlCharacters} characters`,
  ],
  [(text) => !isCleanText(text), 'must not contain a NUL or a lone surrogate'],
  // The parser would drop tabs and line breaks, trim, and take backslashes for slashes.
  // oxlint-disable-next-line no-control-regex -- it is control characters that are looked for.
  [(text) => /[\x00-\x1f\x7f]/.test(text), 'must not contain tabs, line breaks or other control characters'],
  [(text) => text.includes(' '), 'must not contain spaces: write %20 for one'],
  [(text) => text.includes('\\'), 'must not contain backslashes: write / for one'],
  [(text) => !/^https:\/\//i.test(text), 'must begin with https://'],
  [(text) => hostPart(text) === '', 'must have a host name after https://'],
  [(text) => hostPart(text).includes('@'), 'must not contain a user or a password'],
];

function hostPart(text: string): string {
  return /^https:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
}

/**
 * Reads a URL that a reference image may be fetched from, by the rules that its text alone can break. The URL parser
 * turns every spelling of an IPv4 address into one form (WHATWG URL, "host parsing"), so one check of the host is enough.
 * @returns a rule that another text breaks, as the end of a sentence.
 */
export function parseReferenceUrl(text: string): URL | { broken: string } {
  const broken = textRules.find(([isBroken]) => isBroken(text))?.[1];
  if (broken !== undefined) return { broken };
  const url = URL.parse(text);
  if (url === null && !/:\d+$/.test(hostPart(text))) return { broken: 'must have a valid host name' };
  if (url === null || url.port !== '') return { broken: 'must not have a port' };
  if (url.hostname.startsWith('[') || /^[\d.]+$/.test(url.hostname)) {
    return { broken: 'must have a host name, not an IP address' };
  }
  const isPublicName = /^[^.]+(\.[^.]+)+\.?$/.test(url.hostname);
  return isPublicName ? url : { broken: 'must have a full host name, as in shop.example.com' };
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
