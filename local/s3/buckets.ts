import { s3Error } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { bodyOf, expectationsOf, sendXml } from './exchange.ts';
import { receivePayload } from './payload.ts';
import type { StoredObject } from './store.ts';
import { textElement, unescapeXml, xmlDocument } from './xml.ts';

const maxPage = 1000;
/** 1000 keys of 1024 bytes, each byte an entity of six characters. */
const maxDeleteBytes = 8 * 1024 * 1024;
const tokenPrefix = 'v1.';

export function headBucket({ signer, res }: Exchange): void {
  res.writeHead(200, { 'x-amz-bucket-region': signer.region, 'content-type': 'application/xml' }).end();
}

export function getBucketLocation({ signer, res }: Exchange): void {
  // S3 names its first region by an empty element.
  const region = signer.region === 'us-east-1' ? '' : signer.region;
  const root = 'LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  sendXml(res, 200, `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${region}</LocationConstraint>`);
}

export function listObjects({ store, request, input, res }: Exchange): void {
  const { parameters } = input;
  const prefix = parameters['prefix'] ?? '';
  const startAfter = parameters['start-after'] ?? '';
  const token = parameters['continuation-token'];
  const maxKeys = parseMaxKeys(parameters['max-keys']);
  const encoding = parameters['encoding-type'];
  if (encoding !== undefined && encoding !== 'url')
    throw s3Error('InvalidArgument', 'Invalid Encoding Method.');
  const encodeKey = encoding === 'url' ? encodeURIComponent : (key: string) => key;

  const after = Buffer.from(token === undefined ? startAfter : decodeToken(token));
  const isBeyond = ({ key }: StoredObject) =>
    after.length === 0 || Buffer.compare(Buffer.from(key), after) > 0;
  const matching = store
    .list(request.bucket)
    .filter((object) => object.key.startsWith(prefix) && isBeyond(object));
  const page = matching.slice(0, maxKeys);
  const last = page.at(-1);
  const truncated = last !== undefined && matching.length > page.length;
  const optional: [string, string | undefined][] = [
    ['EncodingType', encoding],
    ['ContinuationToken', token],
    ['StartAfter', parameters['start-after'] && encodeKey(startAfter)],
    ['NextContinuationToken', truncated ? encodeToken(last.key) : undefined],
  ];
  sendXml(
    res,
    200,
    xmlDocument('ListBucketResult', [
      textElement('Name', request.bucket),
      textElement('Prefix', encodeKey(prefix)),
      textElement('KeyCount', page.length),
      textElement('MaxKeys', maxKeys),
      textElement('IsTruncated', truncated),
      ...optional.map(([name, value]) => (value === undefined ? '' : textElement(name, value))),
      ...page.map((object) => contents(object, encodeKey)),
    ]),
  );
}

export async function deleteObjects(exchange: Exchange): Promise<void> {
  const { store, request, input, res } = exchange;
  const guards = ['content-md5', 'x-amz-checksum-crc32', 'x-amz-checksum-sha256', 'x-amz-trailer'];
  if (!guards.some((name) => input.headers[name] !== undefined)) {
    throw s3Error('InvalidRequest', 'Missing required header for this request: Content-MD5 or a checksum.');
  }
  const pieces: Buffer[] = [];
  await receivePayload(bodyOf(request), expectationsOf(exchange, maxDeleteBytes), async (piece) => {
    pieces.push(piece);
  });
  const { keys, quiet } = parseDelete(Buffer.concat(pieces).toString());
  for (const key of keys) store.remove(request.bucket, key);
  const deleted = quiet ? [] : keys.map((key) => `<Deleted>${textElement('Key', key)}</Deleted>`);
  sendXml(res, 200, xmlDocument('DeleteResult', deleted));
}

function contents(object: StoredObject, encodeKey: (key: string) => string): string {
  const elements = [
    textElement('Key', encodeKey(object.key)),
    textElement('LastModified', object.lastModified),
    textElement('ETag', `"${object.md5}"`),
    textElement('Size', object.size),
    textElement('StorageClass', 'STANDARD'),
  ];
  return `<Contents>${elements.join('')}</Contents>`;
}

function parseMaxKeys(text: string | undefined): number {
  if (text === undefined) return maxPage;
  if (!/^\d{1,9}$/.test(text)) throw s3Error('InvalidArgument', 'max-keys must be an integer from 0.');
  return Math.min(Number(text), maxPage);
}

function encodeToken(key: string): string {
  return tokenPrefix + Buffer.from(key).toString('base64url');
}

function decodeToken(token: string): string {
  const key = Buffer.from(token.slice(tokenPrefix.length), 'base64url').toString();
  if (encodeToken(key) !== token)
    throw s3Error('InvalidArgument', 'The continuation token provided is incorrect.');
  return key;
}

/** A Delete document is flat enough to take apart by patterns; whatever they leave over is refused. */
function parseDelete(xml: string): { keys: string[]; quiet: boolean } {
  const [, inner] =
    /^\s*(?:<\?xml[^>]*\?>)?\s*<Delete(?:\s+xmlns="[^"]*")?>(.*)<\/Delete>\s*$/s.exec(xml) ?? [];
  if (inner === undefined) throw s3Error('MalformedXML');
  const keys: (string | undefined)[] = [];
  let quiet = false;
  const rest = inner
    .replace(/<Object>\s*<Key>([^<]+)<\/Key>\s*<\/Object>/g, (_, key: string) => {
      keys.push(unescapeXml(key));
      return '';
    })
    .replace(/<Quiet>(true|false)<\/Quiet>/, (_, value) => {
      quiet = value === 'true';
      return '';
    });
  const extra = /<(VersionId|ETag|LastModifiedTime|Size)>/.exec(rest);
  if (extra)
    throw s3Error('NotImplemented', `${extra[1]} in DeleteObjects is not implemented by this store.`);
  const known = keys.filter((key) => key !== undefined);
  if (rest.trim() !== '' || known.length !== keys.length || keys.length === 0 || keys.length > maxPage) {
    throw s3Error('MalformedXML');
  }
  return { keys: known, quiet };
}
