import { addresses } from '../../support/internet/small-internet.ts';
import type { Trap } from './traps.ts';
import { goodPage } from './fixture.ts';

const metadata = '/latest/meta-data/iam/security-credentials/';

const wordsOf = (text: string) => text.trim().split(/\s+/);
const urlsOf = (text: string) => wordsOf(text).map((url): Trap => ({ url }));

/** Hosts that are addresses, in every spelling that a URL parser reads as one. */
const literalHosts = `
  127.0.0.1 127.1 127.0.1 2130706433 0177.0.0.1 017700000001 0x7f000001 0x7f.0.0.1 0X7F.1 127.0.0.1.
  2130706433. 00000177.0x0.0.01 0 0.0.0.0 127.0.0.1%2e %31%32%37.0.0.1 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1
  127．0．0．1 127.0.0.1\u200b 127\u00ad.0.0.1 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518
  0xa9.254.0251.254 100.100.100.200 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.0.0.192
  198.18.0.1 224.0.0.1 255.255.255.255 192.0.2.1 127.0.0.1:9001 127.0.0.1:6379 [::1]
  [0000:0000:0000:0000:0000:0000:0000:0001] [::] [::ffff:127.0.0.1] [::ffff:7f00:1]
  [0:0:0:0:0:ffff:169.254.169.254] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1]
  [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [2002:7f00:1::1] [2002:a9fe:a9fe::] [2001:0:7f00:1::]
  [fe80::1] [fe80::5efe:127.0.0.1] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [2001:db8::1]
  [3fff::1] [100::1] [5f00::1] [2620:4f:8000::1] [::1]:9001
`;

const literals: Trap[] = [
  ...wordsOf(literalHosts).map((host): Trap => ({ url: `https://${host}/cat.png` })),
  { url: `https://169.254.169.254${metadata}` },
  { url: 'https://169.254.170.2/v2/credentials' },
  { url: `https://[fd00:ec2::254]${metadata}` },
  {
    url: `https://${addresses.web}/cat.png`,
    arrange: ({ web }) => web.set(addresses.web, '/cat.png', goodPage),
  },
];

/** Names that never leave a machine or its network. */
const localNames: Trap[] = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'ｌｏｃａｌｈｏｓｔ', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'loc\u00adalhost'].map(
    (host): Trap => ({ url: `https://${host}/cat.png` }),
  ),
  {
    url: 'https://metadata/cat.png',
    arrange: ({ dns }) => dns.set('metadata', ['169.254.169.254']),
  },
  {
    url: 'https://cat/cat.png',
    arrange: (net) => net.site('cat', { '/cat.png': goodPage }),
  },
];

/** Users, passwords and ports, and texts in which two parsers find different hosts. */
const authorities = urlsOf(`
  https://user@cat.example/cat.png https://user:password@cat.example/cat.png
  https://:password@cat.example/cat.png https://@cat.example/cat.png
  https://cat.example@127.0.0.1/cat.png https://cat.example:443@127.0.0.1/cat.png
  https://cat.example&@127.0.0.1#@dog.example/ https://cat.example%20@127.0.0.1/
  https://127.0.0.1#@cat.example/cat.png https://127.0.0.1?@cat.example/cat.png
  https://127.0.0.1/@cat.example/cat.png https://127.0.0.1\\@cat.example/cat.png
  https://127.0.0.1:\\@cat.example/cat.png https://cat.example\\@127.0.0.1/cat.png
  https://cat.example%40127.0.0.1/cat.png https://cat.example／@127.0.0.1/cat.png
  https://127.0.0.1%23.cat.example/cat.png https://cat.example:80/cat.png
  https://cat.example:8443/cat.png https://cat.example:9001/cat.png https://cat.example:22/cat.png
  https://cat.example:0/cat.png https://cat.example:65979/cat.png
`);

/** Other ways to fetch than HTTPS. */
const schemes: Trap[] = [
  ...urlsOf(`
  http://cat.example/cat.png HTTP://169.254.169.254/ http://cat.example:443/cat.png
  data:image/png;base64,iVBORw0KGgo= ftp://cat.example/cat.png file:///etc/passwd
  gopher://127.0.0.1:6379/_FLUSHALL javascript:alert(1)
  blob:https://cat.example/7d8f4f0e-4b7d-4d5e-8f3b-6a0f2c1d9e3b wss://cat.example/cat.png
  view-source:https://cat.example/cat.png //cat.example/cat.png cat.example/cat.png
`),
  { url: '' },
];

/** Characters that the URL parser drops or replaces. */
const characters: Trap[] = [
  { url: 'https:cat.example/cat.png' },
  { url: 'https:/cat.example/cat.png' },
  { url: 'https:///cat.example/cat.png' },
  { url: 'https:\\\\cat.example\\cat.png' },
  { url: 'https://cat.example\\cat.png' },
  { url: 'ht\ntps://cat.example/cat.png' },
  { url: 'https://cat.exa\tmple/cat.png' },
  { url: 'https://127.0.\r\n0.1/cat.png' },
  { url: 'https://cat.example/cat.png\r\nx-forged: yes' },
  { url: ' https://cat.example/cat.png' },
  { url: 'https://cat.example/cat.png\u0000' },
  { url: '\u0001https://cat.example/cat.png' },
  {
    url: `https://cat.example/${'a'.repeat(2100)}`,
    arrange: (net) => net.site('cat.example', { [`/${'a'.repeat(2100)}`]: goodPage }),
  },
];

/** URLs that are refused for their text alone: no name is resolved and no connection is made. */
export const hostileUrls: Trap[] = [...literals, ...localNames, ...authorities, ...schemes, ...characters];
