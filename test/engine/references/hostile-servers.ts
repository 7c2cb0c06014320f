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
import type { Fate, Trap } from './traps.ts';
import { goodPage, picture } from './world.ts';

const { maxBytes } = referenceLimits;
const url = 'https://server.example/cat.png';
const block = Buffer.alloc(65_536);
const chunked = head(200, { 'transfer-encoding': 'chunked' });

/** A site whose one page does this to whoever asks for it. */
const serving = (what: string, page: Page, naive: Fate, by?: Trap['by']): Trap => ({
  what,
  url,
  arrange: (net) => net.site('server.example', { '/cat.png': page }),
  naive,
  by,
  connections: 1,
});

const tooLarge = (what: string, page: Page, naive: Fate): Trap => ({
  ...serving(what, page, naive),
  isTooLarge: true,
});

/** A name for one of the small internet's addresses that have no web site. */
const standing = (what: string, address: string, naive: Fate): Trap => ({
  ...serving(what, unfinished(), naive),
  arrange: ({ dns }) => dns.set('server.example', [address]),
});

const flaws = ['expired', 'not yet valid', 'wrong name', 'self-signed', 'unknown authority'] as const;
const certificates = flaws.map((flaw): Trap => ({
  ...serving(`a server whose certificate is bad: ${flaw}`, goodPage, 'accepts', 'sloppy'),
  arrange(net) {
    net.site('server.example', { '/cat.png': goodPage });
    net.web.spoil('server.example', flaw);
  },
}));

const connections: Trap[] = [
  standing('a server that takes no connection', addresses.dead, 'refuses'),
  standing('a server that never says whether it takes one', addresses.silent, 'waits'),
  standing('a server that takes a connection and is silent', addresses.hanging, 'waits'),
  standing('a server that speaks HTTP without TLS', addresses.plain, 'refuses'),
  standing('a server that cuts the handshake', addresses.cutting, 'refuses'),
  serving('a server that hears the request and is silent', unfinished(), 'waits'),
  serving('a server that hangs up without a word', raw(), 'refuses'),
];

const statuses: Trap[] = [
  ...[201, 202, 203, 206].map((code) => serving(`status ${code}`, status(code), 'accepts')),
  serving('status 204', raw(head(204)), 'accepts'),
  ...[400, 401, 403, 404, 407, 408, 429, 451, 500, 503, 999].map((code) =>
    serving(`status ${code}`, status(code), 'accepts', 'sloppy'),
  ),
];

const upgrade = head(101, { connection: 'upgrade', upgrade: 'websocket' });
const heads: Trap[] = [
  serving('another protocol', unfinished(upgrade), 'refuses'),
  serving('another protocol, and bytes of it', raw(upgrade, 'hello'), 'refuses'),
  serving('another protocol without its name', raw(head(101)), 'refuses'),
  serving('a flood of interim answers (100)', endless('', head(100)), 'refuses'),
  serving('a flood of interim answers (102)', endless('', head(102)), 'waits', 'sloppy'),
  serving('a flood of interim answers (103)', endless('', head(103, { link: '</a>' })), 'waits', 'sloppy'),
  serving('twenty interim answers and a picture', raw(head(103).repeat(20), ok()), 'accepts', 'sloppy'),
  serving('a header of 100 KB', raw(head(200, { 'x-a': 'a'.repeat(100_000) })), 'refuses'),
  serving('ten thousand headers', raw(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}\r\n`), 'refuses'),
  serving('headers without end', endless('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'.repeat(500)), 'refuses'),
  serving('a status text without end', endless('HTTP/1.1 200 ', 'OK'.repeat(500)), 'waits'),
  serving('half a status line', unfinished('HTTP/1.1 20'), 'waits'),
  serving('headers, a byte at a time', endless('HTTP/1.1 200 OK\r\n', 'a', 20), 'waits'),
  serving('a control character in a header', raw('HTTP/1.1 200 OK\r\nx: a\u0001b\r\n\r\n'), 'refuses'),
  serving('a version that is none', raw('HTTP/9.9 200 OK\r\n\r\n'), 'refuses'),
  serving('a picture without any head', raw(picture), 'refuses'),
  serving('HTTP/2', raw(Buffer.from('000012040000000000000300000064', 'hex')), 'refuses'),
  serving('a mail server', raw('220 mail.example ESMTP\r\n'), 'refuses'),
];

const lengths: Trap[] = [
  tooLarge('a byte too many, announced', answer(Buffer.alloc(maxBytes + 1)), 'gorges'),
  tooLarge('an announced exabyte', unfinished(head(200, { 'content-length': 10 ** 15 })), 'waits'),
  tooLarge('a byte too many in chunks', raw(chunked, ...inChunks(maxBytes + 1)), 'gorges'),
  tooLarge('a byte too many until the end', raw(head(200), Buffer.alloc(maxBytes + 1)), 'gorges'),
  tooLarge('chunks without end', endless(chunked, chunk(block)), 'gorges'),
  tooLarge('bytes without end', endless(head(200), block), 'gorges'),
  serving('a slow drip', endless(head(200, { 'content-length': 1000 }), 'a', 20), 'waits'),
  serving('a slow drip of bytes until the end', endless(head(200), 'a', 20), 'waits'),
  serving('a slow drip of chunks', endless(chunked, chunk(Buffer.from('a')), 20), 'waits'),
  serving(
    'less than announced, and the end',
    raw(head(200, { 'content-length': 1000 }), picture),
    'accepts',
    'sloppy',
  ),
  serving('less than announced, and no end', unfinished(head(200, { 'content-length': 9 })), 'waits'),
  serving(
    'half a picture and a cut',
    cut(`${head(200, { 'content-length': 1000 })}half`),
    'accepts',
    'sloppy',
  ),
  serving('chunks without the last', raw(chunked, chunk(picture)), 'accepts', 'sloppy'),
  serving(
    'two lengths',
    raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\nnono'),
    'refuses',
  ),
  serving('a negative length', raw(head(200, { 'content-length': '-1' }), picture), 'refuses'),
  serving('a length in words', raw(head(200, { 'content-length': 'ten' }), picture), 'refuses'),
  serving('a length past all numbers', raw(head(200, { 'content-length': '9'.repeat(30) })), 'refuses'),
  serving(
    'a length and chunks',
    raw(head(200, { 'content-length': 4, 'transfer-encoding': 'chunked' }), chunk(picture), '0\r\n\r\n'),
    'refuses',
  ),
  serving('a chunk of no size', raw(chunked, 'zz\r\nno\r\n0\r\n\r\n'), 'refuses'),
  serving('a chunk past all numbers', raw(chunked, `${'f'.repeat(20)}\r\nno`), 'refuses'),
  serving('a chunk extension without end', endless(`${chunked}1;`, 'a'.repeat(1000)), 'waits'),
  serving('trailers without end', endless(`${chunked}0\r\n`, 'x-a: b\r\n'.repeat(500)), 'refuses'),
];

const encodings: Trap[] = [
  serving('a gzip bomb', bomb('gzip', 2 * maxBytes), 'gorges'),
  serving('a Brotli bomb', bomb('br', 2 * maxBytes), 'gorges'),
  serving('a deflate bomb', bomb('deflate', 2 * maxBytes), 'gorges'),
  ...[
    'gzip',
    'GZIP',
    'x-gzip',
    'br',
    'zstd',
    'compress',
    'aes128gcm',
    'identity, gzip',
    ', gzip',
    'identity;q=1',
  ].map((encoding) =>
    serving(
      `an answer in the encoding ${JSON.stringify(encoding)}`,
      answer(picture, { 'content-encoding': encoding }),
      'accepts',
      'sloppy',
    ),
  ),
  serving(
    'two content encodings',
    raw(`HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-encoding: gzip\r\n\r\n`, picture),
    'accepts',
    'sloppy',
  ),
];

/** Servers with a public name and a public address that send something bad, or nothing. */
export const hostileServers: Trap[] = [
  ...certificates,
  ...connections,
  ...statuses,
  ...heads,
  ...lengths,
  ...encodings,
];

function ok(): Buffer {
  return Buffer.concat([Buffer.from(head(200, { 'content-length': picture.length })), picture]);
}

function inChunks(bytes: number): Buffer[] {
  const whole = Array.from({ length: Math.floor(bytes / block.length) }, () => chunk(block));
  return [...whole, chunk(Buffer.alloc(bytes % block.length)), Buffer.from('0\r\n\r\n')];
}
