import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { chunk, endless, head, redirect, unfinished } from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import type { Page } from '../../support/internet/web-server.ts';
import { until } from '../../support/until.ts';
import { useInternet, problemOf, withinReason } from './fixture.ts';

const internet = useInternet();

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
    if (typeof place === 'string') internet.net.site(name, {}, [place]);
    else internet.net.site(name, { '/cat.png': place });
    return `https://${name}/cat.png`;
  });
}

const allClosed = () =>
  until(
    'every connection is closed',
    () => internet.home.sockets.every(({ destroyed }) => destroyed) && internet.net.web.open() === 0,
    60_000,
  );

test('all fetches of a request end together when its time is up, and leave nothing open', async () => {
  await allClosed();
  const budget = new AbortController();
  const attempts = setUpSlow().map((url) => problemOf(internet.fetchReference(url, budget.signal)));
  const { home, net } = internet;
  // The last two never come to send a request.
  const areUnderWay = () =>
    home.sockets.length === slow.length && net.web.requests.length === slow.length - 2;
  await until('all of them wait', areUnderWay, 60_000);
  budget.abort();
  const problems = await withinReason(Promise.all(attempts));
  expect(problems).toEqual(slow.map(() => internet.generic));
  await allClosed();
  expect(getEventListeners(budget.signal, 'abort')).toEqual([]);
});

test('the time is one for all hops: a redirect brings no new time', async () => {
  const budget = new AbortController();
  internet.net.site('start.example', {
    '/1': redirect(302, '/2'),
    '/2': redirect(302, '/3'),
    '/3': () => budget.abort(),
  });
  const attempt = internet.fetchReference('https://start.example/1', budget.signal);
  expect(await withinReason(problemOf(attempt))).toBe(internet.generic);
  expect(internet.home.destinations).toHaveLength(3);
  await allClosed();
});

test('when there is no time left, nothing is connected', async () => {
  const attempt = internet.fetchReference('https://cat.example/cat.png', AbortSignal.abort());
  expect(await problemOf(attempt)).toBe(internet.generic);
  expect(internet.home.destinations).toEqual([]);
});
