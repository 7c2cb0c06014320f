import type { Resolution } from '../../support/internet/dns-server.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import { withoutEnd, type Trap } from './traps.ts';
import { goodPage } from './fixture.ts';

const { web, web6 } = addresses;

/** Addresses that a name must not resolve to, one or more of every kind. */
const forbiddenAddresses = `
  0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 169.254.170.2
  169.254.170.23 172.20.0.1 192.0.0.192 192.0.2.7 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1
  192.175.48.1 198.19.255.255 198.51.100.1 203.0.113.9 224.0.0.251 239.255.255.250 240.0.0.1
  255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:93.184.215.14 ::127.0.0.1 ::ffff:0:169.254.169.254
  64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 100::1 2001::7f00:1 2001:20::1 2001:db8::1
  2002:7f00:1::1 2002:a9fe:a9fe::1 2620:4f:8000::1 3fff::1 5f00::1 4000::1 fc00::1 fd00:ec2::254
  fe80::1 fe80::5efe:7f00:1 fec0::1 ff02::1 ff0e::1
`
  .trim()
  .split(/[ \n]+/);

const named = (what: string, at: Resolution, name = 'trap.example'): Trap => ({
  what: `a name for ${what}`,
  url: `https://${name}/cat.png`,
  arrange: (net) => net.site(name.replace(/\.$/, ''), { '/cat.png': goodPage }, at),
});

const manyPublic = Array.from({ length: 59 }, (_, index) => `93.184.${index}.14`);

/** Names that look harmless and resolve to a forbidden address, or to nothing. No connection is made. */
export const hostileNames: Trap[] = [
  ...forbiddenAddresses.map((address) => named(address, [address])),
  named('a public and a private address', [web, '10.0.0.1']),
  named('a private and a public address', ['10.0.0.1', web]),
  named('a public IPv4 and a private IPv6 address', [web, 'fd00::1']),
  named('a private IPv4 and a public IPv6 address', ['127.0.0.1', web6]),
  named('a public IPv6 and a mapped private address', [web6, '::ffff:10.0.0.1']),
  named('60 addresses, of which the last is private', [web, ...manyPublic, '127.0.0.1']),
  named('another name, which is private', { cname: 'inside.example', addresses: ['10.0.0.1'] }),
  named('localhost', { cname: 'localhost', addresses: ['127.0.0.1', '::1'] }),
  named('a name for nothing', { cname: 'gone.example' }),
  named('loopback, with a dot at its end', ['127.0.0.1'], 'trap.example.'),
  named('loopback, in capitals', ['127.0.0.1'], 'TRAP.Example'),
  named('loopback, which looks like it', ['127.0.0.1'], '127.0.0.1.nip.io'),
  named('loopback, which looks like another', ['127.0.0.1'], '93.184.215.14.nip.io'),
  named('loopback, in letters of another script', ['127.0.0.1'], 'xn--e1afmkfd.example'),
  named('loopback, with an underscore', ['127.0.0.1'], 'a_b.example'),
  named('loopback, under localhost', ['127.0.0.1'], 'cat.localhost'),
  named('metadata, by its own name', ['169.254.169.254'], 'metadata.google.internal'),
  named('metadata, by a name of the cloud', ['169.254.169.254'], 'instance-data.ec2.internal'),
  named('no address', []),
  named('nothing: it does not exist', 'nxdomain'),
  named('nothing: its server failed', 'servfail'),
  named('nothing: its server refused', 'refused'),
  withoutEnd(named('nothing: its server is silent', 'silence')),
  named('nothing: its server talks nonsense', 'garbage'),
];
