import * as z from 'zod/mini';
import { codePoints, optional, text } from '../base/fields.ts';
import { referenceLimits } from '../images/image-types.ts';

/** Fetched for all requests of a license together, those that only try included. */
export const maxAddressesPerMinute = 40;

const referenceUrlRule = 'must be an https:// or data: URL in a string';

/** What a URL's text must not look like, and the rule that it breaks then, in the order in which they are named. */
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

/** How a data: URI begins (RFC 2397). What it says of its type is not looked at. */
const dataUriStart = /^data:[^,\s]{0,100};base64,/i;
const dataUriRule = 'must have base64 after data:image/png;base64, with its padding and without white space';

/** Whether a reference's URL is the file itself. */
export function isDataUri(url: string): boolean {
  return /^data:/i.test(url);
}

/** Whether a data: URI is base64 in the standard's alphabet, padded (RFC 4648, section 4). Its megabytes are looked at once. */
function isBase64Uri(uri: string): boolean {
  const [start] = dataUriStart.exec(uri) ?? [];
  if (start === undefined || (uri.length - start.length) % 4 !== 0) return false;
  return !/[^A-Za-z0-9+/]/.test(uri.slice(start.length).replace(/={1,2}$/, ''));
}

/**
 * Checks the rules that the text of a reference's URL alone can break. The URL parser turns every spelling of an IPv4 address
 * into one form (WHATWG URL, "host parsing"), so one check of the host is enough.
 * @returns the rule that is broken, as the end of a sentence.
 */
export function referenceUrlProblem(sent: string): string | null {
  if (isDataUri(sent)) return isBase64Uri(sent) ? null : dataUriRule;
  const { maxUrlCharacters } = referenceLimits;
  if (codePoints(sent) > maxUrlCharacters) return `must be at most ${maxUrlCharacters} characters`;
  const broken = textRules.find(([pattern]) => pattern.test(sent));
  if (broken) return broken[1];
  const url = URL.parse(sent);
  if (url === null) return 'must have a valid host name, and no port';
  if (url.port !== '') return 'must not have a port';
  if (/^(\[|[\d.]+$)/.test(url.hostname)) return 'must have a host name, not an IP address';
  const isFull = /^[^.]+(\.[^.]+)+\.?$/.test(url.hostname);
  return isFull ? null : 'must have a full host name, as in shop.example.com';
}

/** @returns null for what may not be fetched. */
export function parseReferenceUrl(sent: string): URL | null {
  return isDataUri(sent) || referenceUrlProblem(sent) !== null ? null : new URL(sent);
}

/** The same rules for the JSON Schema, as far as it can say them. It can't say those for the host and for each kind's length. */
const referenceUrlShape = {
  pattern:
    '^([Hh][Tt][Tt][Pp][Ss]://[^/?#@\\u0000-\\u0020\\u007f\\\\]+([/?#][^\\u0000-\\u0020\\u007f\\\\]*)?' +
    '|[Dd][Aa][Tt][Aa]:[^,\\s]{0,100};[Bb][Aa][Ss][Ee]64,[A-Za-z0-9+/]*={0,2})$',
};

/** For the JSON Schema: the item has this member, and the other only as `null`. */
const sentAlone = (member: string) => ({
  required: [member],
  properties: { [member]: { type: 'string' } },
});

/** One member of `referenceImages` in the body of POST /generate. */
export const referenceItem = z
  .strictObject(
    {
      url: optional(
        z.string(referenceUrlRule).check(
          z.refine((value) => referenceUrlProblem(value) === null, {
            error: ({ input }) => referenceUrlProblem(input as string)!,
          }),
          z.meta(referenceUrlShape),
        ),
      ),
      uploadId: optional(text(1, 100)),
    },
    'must be an object with url or uploadId',
  )
  .check(
    z.refine((item) => (item.url === undefined) !== (item.uploadId === undefined), {
      error: 'must have exactly one of url and uploadId',
      // Named beside what is wrong with either of them.
      when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
    }),
    z.meta({ oneOf: ['url', 'uploadId'].map(sentAlone) }),
  );

export type ReferenceItem = z.infer<typeof referenceItem>;

/** The input of the function that fetches references. */
export interface FetchReferencesCommand {
  /** For the log. */
  requestId: string;
  items: ReferenceSource[];
}

export type ReferenceOrigin =
  /** Somebody else's address. */
  | { kind: 'url'; url: string }
  /** The file itself, as a data: URI. */
  | { kind: 'data'; base64: string }
  /** A link of the service's own, to a file that was uploaded. */
  | { kind: 'upload'; getLink: string };

/** @param url that keeps the rules */
export function originOfUrl(url: string): ReferenceOrigin {
  return isDataUri(url) ? { kind: 'data', base64: url.slice(url.indexOf(',') + 1) } : { kind: 'url', url };
}

/** Where an image comes from, and the link to store it at: null when it is only checked. */
export type ReferenceSource = ReferenceOrigin & { putLink: string | null };

/** Its output, one entry for each item in their order: null when the image can be used, or what is wrong with it. */
export const fetchReferencesAnswer = z.object({
  problems: z
    .array(z.nullable(z.string().check(z.maxLength(500))))
    .check(z.maxLength(referenceLimits.maxItems)),
});

export type FetchReferencesAnswer = z.infer<typeof fetchReferencesAnswer>;
