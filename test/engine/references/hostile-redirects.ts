import { endless, head, raw, redirect } from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import type { Page } from '../../support/internet/web-server.ts';
import { hostileUrls } from './hostile-urls.ts';
import type { Trap } from './traps.ts';
import { goodPage } from './fixture.ts';

const codes = [301, 302, 303, 307, 308];
const start = 'https://start.example/go';

/** A site that redirects to `to`, with each status in turn. */
const sending = (index: number, to: string, rest: Partial<Trap> = {}): Trap => ({
  what: `a redirect (${codes[index % 5]}) to ${JSON.stringify(to)}`,
  url: start,
  connections: 1,
  ...rest,
  arrange(net) {
    net.site('start.example', { '/go': redirect(codes[index % 5]!, to) });
    net.site('http.example', { '/cat.png': goodPage });
    rest.arrange?.(net);
  },
});

/** To those hostile URLs that a header can hold, but not to a good site that is only written in another way. */
const toHostileUrls = hostileUrls
  .filter(
    ({ url }) => /^https:\/\/[\x21-\x7e]+$/.test(url) && URL.parse(url)?.origin !== 'https://cat.example',
  )
  .map(({ url, arrange }, index) => sending(index, url, { arrange }));

const toNames = ['10.0.0.1', '169.254.169.254', '::1', 'fd00:ec2::254', '::ffff:127.0.0.1'].map(
  (address, index) =>
    sending(index, `https://inside.example/${index}`, {
      what: `a redirect to a name for ${address}`,
      arrange: ({ dns }) => dns.set('inside.example', [address]),
    }),
);

const toOtherForms = [
  'http://http.example/cat.png',
  'http://169.254.169.254/latest/meta-data/',
  '//127.0.0.1/cat.png',
  '//[::1]/cat.png',
  '\\\\127.0.0.1\\cat.png',
  '/\\127.0.0.1/cat.png',
  'https:\\\\127.0.0.1/',
  'https://127.0\t.0.1/',
  'https://%31%32%37.1/',
  '//user@start.example/go',
  'https://start.example:8443/go',
  '//start.example:9001/go',
  'data:image/png;base64,iVBORw0KGgo=',
  'file:///etc/passwd',
  'https://',
  'http://[',
].map((to, index) => sending(index, to));

/** Pages of one site, of which `/go` is asked for first. */
const pages = (
  what: string,
  byPath: Record<string, Page>,
  connections = 1,
  rest: Partial<Trap> = {},
): Trap => ({
  what,
  url: start,
  arrange: (net) => net.site('start.example', byPath),
  connections,
  ...rest,
});

/** Three redirects from page to page, and then this one. */
const afterThree = (last: Page) => ({
  '/go': redirect(302, '/1'),
  '/1': redirect(307, '/2'),
  '/2': redirect(302, '/3'),
  '/3': last,
});

/** Each redirect is allowed by itself. */
const chains: Trap[] = [
  pages('four redirects', { ...afterThree(redirect(302, '/4')), '/4': goodPage }, 4),
  pages('three redirects and one to a private address', afterThree(redirect(307, 'https://10.0.0.1/')), 4),
  sending(1, start, { what: 'a redirect to itself', connections: 4 }),
  sending(2, '', { what: 'a redirect to nowhere', connections: 4 }),
  sending(3, '//other.example/back', {
    what: 'two pages that redirect to each other',
    connections: 4,
    arrange: (net) => net.site('other.example', { '/back': redirect(308, start) }),
  }),
  pages('a redirect to a name that has moved to a private address in between', {}, 1, {
    arrange: (net) =>
      net.site('start.example', { '/go': redirect(302, '/next') }, [addresses.web], ['169.254.169.254']),
  }),
];

const twoPlaces = 'location: https://127.0.0.1/\r\nlocation: https://cat.example/cat.png';
const oddities: Trap[] = [
  ...[300, 304, 305, 306, 310].map((code) => {
    const page = raw(head(code, { location: 'https://127.0.0.1/' }));
    return pages(`status ${code} with a location`, { '/go': page });
  }),
  pages('a redirect without a location', { '/go': redirect(302) }),
  pages('a redirect with two locations', { '/go': raw(`HTTP/1.1 302 Found\r\n${twoPlaces}\r\n\r\n`) }),
  pages('a redirect to a private address that has an endless body', {
    '/go': endless(head(302, { location: 'https://10.0.0.1/' }), Buffer.alloc(65_536)),
  }),
];

export const hostileRedirects = [toHostileUrls, toNames, toOtherForms, chains, oddities].flat();
