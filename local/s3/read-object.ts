import { pipeline } from 'node:stream/promises';
import { s3Error } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { checkHeaderValue, digestHeaders } from './exchange.ts';
import type { OpenObject, StoredObject } from './store.ts';

/** The parameters that a signed GET may use to choose headers of its answer. */
export const overrides: Record<string, string> = {
  'response-cache-control': 'cache-control',
  'response-content-disposition': 'content-disposition',
  'response-content-encoding': 'content-encoding',
  'response-content-language': 'content-language',
  'response-content-type': 'content-type',
  'response-expires': 'expires',
};

export async function getObject(exchange: Exchange): Promise<void> {
  const { store, request } = exchange;
  const opened = store.open(request.bucket, request.key);
  if (!opened) throw s3Error('NoSuchKey', undefined, { Key: request.key });
  let reading = false;
  try {
    const answer = answerHead(exchange, opened.object);
    if (!answer) return;
    reading = answer.length > 0;
    await sendBody(exchange, opened, answer);
  } finally {
    if (!reading) opened.close();
  }
}

export function headObject(exchange: Exchange): void {
  const { store, request, res } = exchange;
  const object = store.head(request.bucket, request.key);
  if (!object) throw s3Error('NoSuchKey', undefined, { Key: request.key });
  if (answerHead(exchange, object)) res.end();
}

interface Answer {
  start: number;
  /** Bytes. */
  length: number;
}

async function sendBody({ res }: Exchange, opened: OpenObject, { start, length }: Answer): Promise<void> {
  if (length === 0) res.end();
  else await pipeline(opened.read(start, start + length - 1), res);
}

/** Writes status and headers; undefined when that is the whole answer because nothing changed. */
function answerHead({ input, res }: Exchange, object: StoredObject): Answer | undefined {
  const { etag, ...checksum } = digestHeaders(object);
  const validators = { etag, 'last-modified': new Date(object.lastModified).toUTCString() };
  if (isUnchanged(input.headers, object)) {
    res.writeHead(304, validators).end();
    return undefined;
  }
  const range = requestedRange(input.headers, object);
  const { start, length } = range ?? { start: 0, length: object.size };
  const chosen = Object.entries(overrides)
    .filter(([parameter]) => input.parameters[parameter] !== undefined)
    .map(([parameter, header]) => [header, checkHeaderValue(input.parameters[parameter] ?? '')]);
  res.writeHead(range ? 206 : 200, {
    'content-type': 'binary/octet-stream',
    ...object.headers,
    ...Object.fromEntries(chosen),
    ...validators,
    'accept-ranges': 'bytes',
    'content-length': length,
    ...(range && { 'content-range': `bytes ${start}-${start + length - 1}/${object.size}` }),
    // The checksum is the whole object's, which a client could not hold against a part.
    ...(!range && input.headers['x-amz-checksum-mode'] === 'ENABLED' && checksum),
  });
  return { start, length };
}

/** True for 304; throws for 412. Source: RFC 9110, section 13.2.2. */
function isUnchanged(headers: Record<string, string>, object: StoredObject): boolean {
  const modified = Math.floor(Date.parse(object.lastModified) / 1000) * 1000;
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  const unmodifiedSince = Date.parse(headers['if-unmodified-since'] ?? '');
  const modifiedSince = Date.parse(headers['if-modified-since'] ?? '');
  const changedTooLate = ifMatch === undefined && modified > unmodifiedSince;
  if ((ifMatch !== undefined && !etagMatches(ifMatch, object)) || changedTooLate) {
    throw s3Error('PreconditionFailed');
  }
  return ifNoneMatch === undefined ? modified <= modifiedSince : etagMatches(ifNoneMatch, object);
}

/** Whether a list of ETags, as in If-Match, names this object's. */
export function etagMatches(list: string, object: StoredObject): boolean {
  const tags = list.split(',').map((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', ''));
  return tags.includes('*') || tags.includes(object.md5);
}

function requestedRange(headers: Record<string, string>, object: StoredObject): Answer | undefined {
  const range = headers['range'];
  const ifRange = headers['if-range'];
  // Of an object that changed since, the rest of the old one is no use.
  if (range === undefined || (ifRange !== undefined && !etagMatches(ifRange, object))) return undefined;
  if (range.includes(','))
    throw s3Error('NotImplemented', 'More than one range is not implemented by this store.');
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim());
  const [, first = '', last = ''] = match ?? [];
  const backwards = first !== '' && last !== '' && Number(first) > Number(last);
  // HTTP has a server ignore a range it cannot read.
  if (!match || (first === '' && last === '') || backwards) return undefined;
  const start = first === '' ? Math.max(0, object.size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? object.size - 1 : Math.min(Number(last), object.size - 1);
  if (start > end) {
    throw s3Error('InvalidRange', undefined, {
      RangeRequested: range,
      ActualObjectSize: String(object.size),
    });
  }
  return { start, length: end - start + 1 };
}
