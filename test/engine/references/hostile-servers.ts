import { referenceLimits } from '../../../shared/images/image-types.ts';
import {
  answer,
  bomb,
  chunk,
  cut,
  endless,
  head,
  raw,
  status,
  unfinished,
} from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import type { Page } from '../../support/internet/web-server.ts';
import { withoutEnd, type Trap } from './traps.ts';
import { goodPage, picture } from './fixture.ts';

const { maxBytes } = referenceLimits;
const url = 'https://server.example/cat.png';
const block = Buffer.alloc(65_536);
const chunked = head(200, { 'transfer-encoding': 'chunked' });

/** A site whose one page does this to whoever asks for it. */
const serving = (what: string, page: Page): Trap => ({
  what,
  url,
  arrange: (net) => net.site('server.example', { '/cat.png': page }),
  connections: 1,
});

const tooLarge = (what: string, page: Page): Trap => ({
  ...serving(what, page),
  isTooLarge: true,
});

/** A name for one of the small internet's addresses that have no web site. */
const standing = (what: string, address: string): Trap => ({
  ...serving(what, unfinished()),
  arrange: ({ dns }) => dns.set('server.example', [address]),
});

const flaws = ['expired', 'not yet valid', 'wrong name', 'self-signed', 'unknown authority'] as const;
const certificates = flaws.map((flaw): Trap => ({
  ...serving(`a server whose certificate is bad: ${flaw}`, goodPage),
  arrange(net) {
    net.site('server.example', { '/cat.png': goodPage });
    net.web.spoil('server.example', flaw);
  },
}));

const connections: Trap[] = [
  standing('a server that takes no connection', addresses.dead),
  withoutEnd(standing('a server that never says whether it takes one', addresses.silent)),
  withoutEnd(standing('a server that takes a connection and is silent', addresses.hanging)),
  standing('a server that speaks HTTP without TLS', addresses.plain),
  standing('a server that cuts the handshake', addresses.cutting),
  withoutEnd(serving('a server that hears the request and is silent', unfinished())),
  serving('a server that hangs up without a word', raw()),
];

const statuses: Trap[] = [
  ...[201, 206].map((code) => serving(`status ${code}`, status(code))),
  serving('status 204', raw(head(204))),
  ...[401, 404, 429, 500, 999].map((code) => serving(`status ${code}`, status(code))),
];

const upgrade = head(101, { connection: 'upgrade', upgrade: 'websocket' });
const heads: Trap[] = [
  serving('another protocol', unfinished(upgrade)),
  serving('a flood of interim answers (100)', endless('', head(100))),
  withoutEnd(serving('a flood of interim answers (103)', endless('', head(103, { link: '</a>' })))),
  serving('twenty interim answers and a picture', raw(head(103).repeat(20), ok())),
  serving('a header of 100 KB', raw(head(200, { 'x-a': 'a'.repeat(100_000) }))),
  serving('ten thousand headers', raw(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}\r\n`)),
  serving('headers without end', endless('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'.repeat(500))),
  withoutEnd(serving('a status text without end', endless('HTTP/1.1 200 ', 'OK'.repeat(500)))),
  withoutEnd(serving('half a status line', unfinished('HTTP/1.1 20'))),
  withoutEnd(serving('headers, a byte at a time', endless('HTTP/1.1 200 OK\r\n', 'a', 20))),
  serving('a control character in a header', raw('HTTP/1.1 200 OK\r\nx: a\u0001b\r\n\r\n')),
  serving('a version that is none', raw('HTTP/9.9 200 OK\r\n\r\n')),
  serving('a picture without any head', raw(picture)),
  serving('HTTP/2', raw(Buffer.from('000012040000000000000300000064', 'hex'))),
  serving('a mail server', raw('220 mail.example ESMTP\r\n')),
];

const lengths: Trap[] = [
  tooLarge('a byte too many, announced', answer(Buffer.alloc(maxBytes + 1))),
  tooLarge('an announced exabyte', unfinished(head(200, { 'content-length': 10 ** 15 }))),
  tooLarge('a byte too many in chunks', raw(chunked, ...inChunks(maxBytes + 1))),
  tooLarge('a byte too many until the end', raw(head(200), Buffer.alloc(maxBytes + 1))),
  tooLarge('chunks without end', endless(chunked, chunk(block))),
  tooLarge('bytes without end', endless(head(200), block)),
  withoutEnd(serving('a slow drip', endless(head(200, { 'content-length': 1000 }), 'a', 20))),
  withoutEnd(serving('a slow drip of chunks', endless(chunked, chunk(Buffer.from('a')), 20))),
  serving('less than announced, and the end', raw(head(200, { 'content-length': 1000 }), picture)),
  withoutEnd(serving('less than announced, and no end', unfinished(head(200, { 'content-length': 9 })))),
  serving('half a picture and a cut', cut(`${head(200, { 'content-length': 1000 })}half`)),
  serving('chunks without the last', raw(chunked, chunk(picture))),
  serving('two lengths', raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\nnono')),
  serving('a negative length', raw(head(200, { 'content-length': '-1' }), picture)),
  serving('a length in words', raw(head(200, { 'content-length': 'ten' }), picture)),
  serving('a length past all numbers', raw(head(200, { 'content-length': '9'.repeat(30) }))),
  serving(
    'a length and chunks',
    raw(head(200, { 'content-length': 4, 'transfer-encoding': 'chunked' }), chunk(picture), '0\r\n\r\n'),
  ),
  serving('a chunk of no size', raw(chunked, 'zz\r\nno\r\n0\r\n\r\n')),
  serving('a chunk past all numbers', raw(chunked, `${'f'.repeat(20)}\r\nno`)),
  withoutEnd(serving('a chunk extension without end', endless(`${chunked}1;`, 'a'.repeat(1000)))),
  serving('trailers without end', endless(`${chunked}0\r\n`, 'x-a: b\r\n'.repeat(500))),
];

const encodings: Trap[] = [
  serving('a gzip bomb', bomb('gzip', 2 * maxBytes)),
  ...['gzip', 'GZIP', 'br', 'identity, gzip', ', gzip', 'identity;q=1'].map((encoding) =>
    serving(`an answer encoded as ${encoding}`, answer(picture, { 'content-encoding': encoding })),
  ),
  serving(
    'two content encodings',
    raw(`HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-encoding: gzip\r\n\r\n`, picture),
  ),
];

/** Servers with a public name and a public address that send something bad, or nothing. */
export const hostileServers = [certificates, connections, statuses, heads, lengths, encodings].flat();

function ok(): Buffer {
  return Buffer.concat([Buffer.from(head(200, { 'content-length': picture.length })), picture]);
}

function inChunks(bytes: number): Buffer[] {
  const whole = Array.from({ length: Math.floor(bytes / block.length) }, () => chunk(block));
  return [...whole, chunk(Buffer.alloc(bytes % block.length)), Buffer.from('0\r\n\r\n')];
}
