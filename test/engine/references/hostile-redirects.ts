import { endless, head, raw, redirect } from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import type { Fate, Trap } from './traps.ts';
import { hostileUrls } from './hostile-urls.ts';

const codes = [301, 302, 303, 307, 308];
const start = 'https://start.example/go';

/** A good page that sends its visitors on. */
const sending = (index: number, to: string, naive: Fate, rest: Partial<Trap> = {}): Trap => ({
  what: `a redirect (${codes[index % 5]}) to ${JSON.stringify(to)}`,
  url: start,
  naive,
  connections: 1,
  ...rest,
  arrange(net, page) {
    net.site('start.example', { '/go': redirect(codes[index % 5]!, to) });
    net.site('http.example', { '/cat.png': page });
    rest.arrange?.(net, page);
  },
});

/** What can be written in a header, of what must not be fetched in the first place. */
const toHostileUrls = hostileUrls
  .filter(({ url, naive }) => naive === 'connects' && /^https:\/\/[\x21-\x7e]+$/.test(url))
  .map((trap, index) =>
    sending(index, trap.url, trap.by ? 'refuses' : 'connects', trap.arrange ? { arrange: trap.arrange } : {}),
  );

const toNames = ['10.0.0.1', '169.254.169.254', '::1', 'fd00:ec2::254', '::ffff:127.0.0.1'].map(
  (address, index) =>
    sending(index, `https://inside.example/${index}`, 'connects', {
      what: `a redirect to a name for ${address}`,
      arrange: ({ dns }) => dns.set('inside.example', [address]),
    }),
);

const toOtherForms: Trap[] = (
  [
    ['http://http.example/cat.png', 'connects'],
    ['HTTP://http.example:80/cat.png', 'connects'],
    ['http://169.254.169.254/latest/meta-data/', 'connects'],
    ['//127.0.0.1/cat.png', 'connects'],
    ['//[::1]/cat.png', 'connects'],
    ['//2130706433', 'connects'],
    ['\\\\127.0.0.1\\cat.png', 'connects'],
    ['/\\127.0.0.1/cat.png', 'connects'],
    ['https:\\\\127.0.0.1/', 'connects'],
    ['https://127.0\t.0.1/', 'connects'],
    ['https://%31%32%37.1/', 'connects'],
    ['https://localhost/', 'connects'],
    ['//user@start.example/go', 'refuses'],
    ['https://start.example:8443/go', 'connects'],
    ['//start.example:9001/go', 'connects'],
    ['data:image/png;base64,iVBORw0KGgo=', 'refuses'],
    ['file:///etc/passwd', 'refuses'],
    ['ftp://cat.example/cat.png', 'refuses'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'refuses'],
    ['javascript:alert(1)', 'refuses'],
    ['https://', 'refuses'],
    ['http://[', 'refuses'],
  ] as [string, Fate][]
).map(([to, naive], index) => sending(index, to, naive));

const toSingleLabel = sending(1, 'https://cat/cat.png', 'accepts', {
  arrange: (net, page) => net.site('cat', { '/cat.png': page }),
});

/** Every hop is fine by itself. */
const chains: Trap[] = [
  {
    what: 'four redirects',
    url: 'https://start.example/1',
    arrange(net, page) {
      const hops = [1, 2, 3, 4].map((hop) => [`/${hop}`, redirect(302, `/${hop + 1}`)]);
      net.site('start.example', { ...Object.fromEntries(hops), '/5': page });
    },
    naive: 'accepts',
    connections: 4,
  },
  {
    what: 'three redirects and one to a private address',
    url: 'https://start.example/1',
    arrange(net) {
      const hops = [1, 2, 3].map((hop) => [`/${hop}`, redirect(307, `/${hop + 1}`)]);
      net.site('start.example', { ...Object.fromEntries(hops), '/4': redirect(307, 'https://10.0.0.1/') });
    },
    naive: 'connects',
    connections: 4,
  },
  sending(1, start, 'refuses', { what: 'a redirect to itself', connections: 4 }),
  sending(2, '', 'refuses', { what: 'a redirect to nowhere', connections: 4 }),
  {
    what: 'two pages that send to each other',
    url: 'https://start.example/1',
    arrange(net) {
      net.site('start.example', { '/1': redirect(301, '//other.example/2') });
      net.site('other.example', { '/2': redirect(308, '//start.example/1') });
    },
    naive: 'refuses',
    connections: 4,
  },
  {
    what: 'a redirect to a name that has moved to a private address in between',
    url: 'https://start.example/go',
    arrange: (net) =>
      net.site('start.example', { '/go': redirect(302, '/next') }, [addresses.web], ['169.254.169.254']),
    naive: 'connects',
    connections: 1,
  },
];

const special = (what: string, page: string, naive: Fate, by: Trap['by'] = 'plain'): Trap => ({
  what,
  url: start,
  arrange: (net) => net.site('start.example', { '/go': raw(page) }),
  naive,
  by,
  connections: 1,
});

const oddities: Trap[] = [
  ...[300, 304, 305, 306, 310].map((code) =>
    special(
      `status ${code} with a place`,
      head(code, { location: 'https://127.0.0.1/' }),
      'accepts',
      'sloppy',
    ),
  ),
  special('a redirect without a place', head(302, { 'content-length': 0 }), 'refuses'),
  special(
    'a redirect to two places',
    'HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1/\r\nlocation: https://cat.example/cat.png\r\n\r\n',
    'connects',
  ),
  {
    what: 'a redirect to a private address that has an endless body',
    url: start,
    arrange: (net) =>
      net.site('start.example', {
        '/go': endless(head(302, { location: 'https://10.0.0.1/' }), Buffer.alloc(65_536)),
      }),
    naive: 'connects',
    connections: 1,
  },
];

export const hostileRedirects: Trap[] = [
  ...toHostileUrls,
  ...toNames,
  ...toOtherForms,
  toSingleLabel,
  ...chains,
  ...oddities,
];
