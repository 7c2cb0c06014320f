import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { chunk, endless, head, redirect, unfinished } from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import type { Page } from '../../support/internet/web-server.ts';
import { until } from '../../support/until.ts';
import { useInternet, picture, problemOf, withinReason } from './fixture.ts';

const world = useInternet();

const announced = head(200, { 'content-length': 1000 });
const chunked = head(200, { 'transfer-encoding': 'chunked' });

/** Servers that keep a client waiting, each at another moment of a fetch. */
const slow: [string, Page | string][] = [
  ['a body that drips', endless(announced, 'a', 20)],
  ['chunks that drip', endless(chunked, chunk(Buffer.from('a')), 20)],
  ['an answer that does not come', unfinished()],
  ['a head that does not end', unfinished('HTTP/1.1 200 OK\r\nx-a: b\r\n')],
  ['a handshake that does not end', addresses.hanging],
  ['a connection that is never made', addresses.silent],
];

/** @returns the URLs of the slow servers */
function setUpSlow(): string[] {
  return slow.map(([, place], index) => {
    const name = `slow${index}.example`;
    if (typeof place === 'string') world.net.site(name, {}, [place]);
    else world.net.site(name, { '/cat.png': place });
    return `https://${name}/cat.png`;
  });
}

const allClosed = () =>
  until(
    'every connection is closed',
    () => world.home.sockets.every(({ destroyed }) => destroyed) && world.net.web.open() === 0,
    60_000,
  );

test('all fetches of a request end together when its time is up, and leave nothing open', async () => {
  await allClosed();
  const budget = new AbortController();
  const attempts = setUpSlow().map((url) => problemOf(world.fetchReference(url, budget.signal)));
  const { home, net } = world;
  // The last two never come to send a request.
  const areUnderWay = () =>
    home.sockets.length === slow.length && net.web.requests.length === slow.length - 2;
  await until('all of them wait', areUnderWay, 60_000);
  budget.abort();
  const problems = await withinReason(Promise.all(attempts));
  expect(problems).toEqual(slow.map(() => world.generic));
  await allClosed();
  expect(getEventListeners(budget.signal, 'abort')).toEqual([]);
});

test('the time is one for all hops: a redirect brings no new time', async () => {
  const budget = new AbortController();
  world.net.site('start.example', {
    '/1': redirect(302, '/2'),
    '/2': redirect(302, '/3'),
    '/3': () => budget.abort(),
  });
  const attempt = world.fetchReference('https://start.example/1', budget.signal);
  expect(await withinReason(problemOf(attempt))).toBe(world.generic);
  expect(world.home.destinations).toHaveLength(3);
  await allClosed();
});

test('slow servers do not delay the others', async () => {
  const budget = new AbortController();
  const stuck = setUpSlow().map((url) => problemOf(world.fetchReference(url, budget.signal)));
  const good = [1, 2, 3].map(() => world.fetchReference('https://cat.example/cat.png', budget.signal));
  expect((await Promise.all(good)).map((bytes) => Buffer.from(bytes))).toEqual([picture, picture, picture]);
  budget.abort();
  expect(await withinReason(Promise.all(stuck))).toEqual(slow.map(() => world.generic));
  await allClosed();
});

test('when there is no time left, nothing is connected', async () => {
  const attempt = world.fetchReference('https://cat.example/cat.png', AbortSignal.abort());
  expect(await problemOf(attempt)).toBe(world.generic);
  expect(world.home.destinations).toEqual([]);
});
