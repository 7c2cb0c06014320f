import { describe, expect, test } from '@jest/globals';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { answer, chunk, head, raw, redirect } from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import type { Page } from '../../support/internet/web-server.ts';
import { useInternet, goodPage, picture, problemOf } from './fixture.ts';

const internet = useInternet();

/** Without a time limit, because every server here answers. */
const fetched = (url: string) => internet.fetchReference(url, new AbortController().signal);
const visited = () => internet.home.destinations.map(({ host }) => host);

test('a picture arrives as it is, from the address that its name has', async () => {
  expect(Buffer.from(await fetched('https://cat.example/cat.png'))).toEqual(picture);
  expect(internet.home.destinations).toEqual([{ host: addresses.web, port: 443, outcome: 'led' }]);
});

test('a server learns nothing but which file is wanted', async () => {
  internet.net.site('cat.example', { '/a%20b/c?size=1&x=%2F': goodPage });
  await fetched('https://cat.example/a%20b/c?size=1&x=%2F#top');
  const [request] = internet.net.web.requests;
  const [line, ...headers] = request!.head.split('\r\n');
  expect(line).toBe('GET /a%20b/c?size=1&x=%2F HTTP/1.1');
  const fields = Object.fromEntries(headers.map((header) => header.toLowerCase().split(': ')));
  expect(fields).toMatchObject({ host: 'cat.example', 'accept-encoding': 'identity', connection: 'close' });
  const known = ['host', 'accept', 'accept-encoding', 'user-agent', 'connection'];
  expect(Object.keys(fields).filter((name) => !known.includes(name))).toEqual([]);
});

test.each([
  [undefined, 'image-generation-service'],
  ['https://example.com/help?a=b#c', 'image-generation-service (https://example.com/help?a=b#c)'],
])('a server learns who asks, after a redirect, too, with the contact %s', async (contact, userAgent) => {
  internet.net.site('start.example', { '/go': redirect(302, 'https://cat.example/cat.png') });
  await internet.fetchReference('https://start.example/go', new AbortController().signal, contact);
  const agents = internet.net.web.requests.map(({ head: text }) =>
    /^user-agent: (.*)$/im.exec(text)![1]!.trim(),
  );
  expect(agents).toEqual([userAgent, userAgent]);
});

describe('a host may be written', () => {
  test.each([
    ['in capitals', 'HTTPS://CAT.Example/cat.png'],
    ['with a dot at its end', 'https://cat.example./cat.png'],
    ['in letters of another width', 'https://ｃａｔ．example/cat.png'],
  ])('%s', async (_, url) => {
    expect(Buffer.from(await fetched(url))).toEqual(picture);
    expect(internet.net.dns.queries[0]!.name).toBe('cat.example');
  });
});

describe('redirects are followed', () => {
  test.each([
    [301, 'another host', 'https://cat.example/cat.png'],
    [302, 'another host in this scheme', '//cat.example/cat.png'],
    [303, 'a path', '/cat.png'],
    [307, 'a path beside this one', 'cat.png'],
    [308, 'a path above this one', '../../cat.png'],
    [302, 'a place in a page', 'https://cat.example/cat.png#top'],
  ])('with the status %d, to %s', async (code, _, location) => {
    internet.net.site('start.example', { '/go': redirect(code, location), '/cat.png': goodPage });
    expect(Buffer.from(await fetched('https://start.example/go'))).toEqual(picture);
  });

  test('and every hop resolves its name once, for each kind of address', async () => {
    internet.net.site('start.example', {
      '/1': redirect(302, '/2'),
      '/2': redirect(302, '//cat.example/cat.png'),
    });
    await fetched('https://start.example/1');
    const asked = internet.net.dns.queries.map(({ name, type }) => `${name} ${type}`);
    expect(asked.sort()).toEqual(
      ['cat', 'start', 'start'].flatMap((name) => [`${name}.example A`, `${name}.example AAAA`]).sort(),
    );
  });
});

describe('a name may have', () => {
  test.each([
    ['an IPv6 address only', [addresses.web6], [addresses.web6]],
    [
      'an address that takes no connection, and another',
      [addresses.dead, addresses.web],
      [addresses.dead, addresses.web],
    ],
    [
      'a dead IPv4 address, and an IPv6 address',
      [addresses.web6, addresses.dead],
      [addresses.dead, addresses.web6],
    ],
    ['another name', { cname: 'cdn.example', addresses: [addresses.other] }, [addresses.other]],
  ])('%s', async (_, at, way) => {
    internet.net.site('cat.example', {}, at);
    expect(Buffer.from(await fetched('https://cat.example/cat.png'))).toEqual(picture);
    expect(visited()).toEqual(way);
  });
});

test('a name that gets another address after it was checked is not resolved again', async () => {
  internet.net.site('cat.example', {}, [addresses.web], ['169.254.169.254']);
  expect(Buffer.from(await fetched('https://cat.example/cat.png'))).toEqual(picture);
  expect([visited(), internet.net.dns.queries.length]).toEqual([[addresses.web], 2]);
});

describe('an answer may', () => {
  const chunked = head(200, { 'transfer-encoding': 'chunked' });
  const largest = Buffer.alloc(referenceLimits.maxBytes, 'x');
  test.each<[string, Page, Buffer]>([
    ['be of 10 MiB, with its length', answer(largest), largest],
    ['be of 10 MiB, in one chunk', raw(chunked, chunk(largest), '0\r\n\r\n'), largest],
    ['be of 10 MiB, until the connection ends', raw(head(200), largest), largest],
    ['say that it is not encoded', answer(picture, { 'content-encoding': 'identity' }), picture],
    ['be of any type', answer(picture, { 'content-type': 'text/html' }), picture],
    ['follow a hint', raw(head(103, { link: '</a>; rel=preload' }), head(200), picture), picture],
    ['be of HTTP/1.0', raw('HTTP/1.0 200 OK\r\n\r\n', picture), picture],
    ['come in small chunks', raw(chunked, ...smallChunks(), '0\r\n\r\n'), picture],
  ])('%s', async (_, page, bytes) => {
    internet.net.site('cat.example', { '/cat.png': page });
    expect(bytes.equals(await fetched('https://cat.example/cat.png'))).toBe(true);
  });
});

test('no byte after the announced length is taken', async () => {
  internet.net.site('cat.example', { '/cat.png': raw(head(200, { 'content-length': 7 }), picture) });
  const bytes = await fetched('https://cat.example/cat.png').catch(() => Buffer.from('a pictu'));
  expect(Buffer.from(bytes).toString()).toBe('a pictu');
});

test('a name is given up when three of its addresses take no connection', async () => {
  const dead = Array.from({ length: 6 }, () => addresses.dead);
  internet.net.site('cat.example', {}, dead);
  expect(await problemOf(fetched('https://cat.example/cat.png'))).toBe(internet.generic);
  expect(visited().length).toBeLessThanOrEqual(3);
});

function smallChunks(): Buffer[] {
  return Array.from(picture, (byte) => chunk(Buffer.from([byte])));
}
