import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../base/errors.ts';
import { quoteName } from '../base/fields.ts';

/** More than there are members and files. */
const maxParts = 40;
/** Of one part's headers: a file's name may be long, and be there twice. */
const maxHeadBytes = 4096;

interface Part {
  name: string;
  content: Buffer;
}

const numbers = ['n', 'seed', 'steps', 'guidance_scale', 'output_compression', 'partial_images'];
const isImage = ({ name }: Part) => name === 'image' || name === 'image[]';

/** Whether a body is said to be a form with files. */
export function isForm(contentType = ''): boolean {
  return /^multipart\/form-data[ \t]*(;|$)/i.test(contentType);
}

/**
 * Reads a form as the JSON body that says the same: its files `image` and `image[]` are `images` with data: URIs. Forms have texts
 * alone, so members that are numbers or truth values in JSON are read from theirs.
 * @throws INVALID_BODY. Its sentence quotes nothing of the contents.
 */
export function readForm(body: Buffer, contentType: string): Record<string, unknown> {
  const parts = partsOf(body, contentType);
  const images = parts
    .filter(isImage)
    .map(({ content }) => ({ image_url: `data:;base64,${content.toString('base64')}` }));
  const sent = new Map<string, unknown>(images.length > 0 ? [['images', images]] : []);
  for (const { name, content } of parts.filter((part) => !isImage(part))) {
    if (sent.has(name))
      throw invalid(`has ${quoteName(name)} twice: send each part once, but those of images`);
    sent.set(name, valueOf(name, content));
  }
  return Object.fromEntries(sent);
}

function valueOf(name: string, content: Buffer): unknown {
  // A member's schema refuses a list, and says what it wants: no file, as that of a mask.
  if (!isUtf8(content)) return [];
  const text = content.toString();
  if (numbers.includes(name) && /^-?\d{1,20}(\.\d{1,20})?$/.test(text)) return Number(text);
  return name === 'stream' && /^(true|false)$/.test(text) ? text === 'true' : text;
}

/**
 * The parts of a form (RFC 7578; RFC 2046, section 5.1.1), without what SDKs never send: text before or after them, white space
 * behind a boundary. Each byte is looked at once. Node.js reads forms, too, but took 1.4 s for 4 MiB of empty parts.
 */
function partsOf(body: Buffer, contentType: string): Part[] {
  const boundary = boundaryIn(contentType);
  if (boundary === undefined) throw invalid('needs its boundary in Content-Type');
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let at = delimiter.length - 2;
  if (!body.subarray(0, at).equals(delimiter.subarray(2))) throw malformed();
  const parts: Part[] = [];
  while (body.toString('latin1', at, at + 2) !== '--') {
    if (parts.length === maxParts) throw invalid(`has more than ${maxParts} parts`);
    const headBytes = body.subarray(at, at + maxHeadBytes).indexOf('\r\n\r\n');
    const begin = at + headBytes + 4;
    const end = body.indexOf(delimiter, begin);
    const name = nameIn(body.toString('utf8', at, begin - 4));
    if (headBytes === -1 || end === -1 || name === null) throw malformed();
    parts.push({ name, content: body.subarray(begin, end) });
    at = end + delimiter.length;
  }
  return parts;
}

function boundaryIn(contentType: string): string | undefined {
  const [, quoted, bare] = /;[ \t]*boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))/i.exec(contentType) ?? [];
  return quoted ?? bare;
}

/** What two forms that say the same have in common, though each has a boundary of its own; of any other body, all of it. */
export function* withoutBoundaries(body: Buffer, contentType = ''): Generator<Buffer> {
  const boundary = isForm(contentType) ? (boundaryIn(contentType) ?? '') : '';
  let rest = body;
  // What has more parts is refused, so it may be told apart from itself.
  for (let parts = boundary === '' ? Infinity : 0; parts <= maxParts; parts++) {
    const at = rest.indexOf(`--${boundary}`);
    if (at === -1) break;
    yield rest.subarray(0, at + 2);
    rest = rest.subarray(at + 2 + boundary.length);
  }
  yield rest;
}

/** The name in a part's headers, which begin with the end of the boundary's line. Parameters may be quoted or not. */
function nameIn(head: string): string | null {
  const [, parameters = ''] = /^\r\n(?:.*\r\n)*content-disposition:[ \t]*form-data(;.*)/i.exec(head) ?? [];
  for (const [, key, quoted, bare] of parameters.matchAll(/([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g)) {
    if (key!.toLowerCase() === 'name') return quoted ?? bare!;
  }
  return null;
}

function malformed(): ServiceError {
  return invalid('is not a whole form: send multipart/form-data as an HTTP library writes it');
}

function invalid(what: string): ServiceError {
  return new ServiceError('INVALID_BODY', `The body ${what}.`);
}
