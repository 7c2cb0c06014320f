import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose IPv4 ranges and the multicast and reserved ones (RFC 6890 and its registry). */
const specialIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The only public IPv6 range. Every IPv6 form that holds an IPv4 address lies outside of it. */
const globalIpv6 = ['2000::/3'];

/** Special ranges within it: protocol assignments with Teredo, documentation, 6to4, AS112. */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special = blockList(specialIpv4, specialIpv6);
const global = blockList([], globalIpv6);

/** Whether an address belongs to the public internet, and not to this machine, its network or its cloud. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  return (
    version === 6 &&
    !address.includes('%') &&
    global.check(address, 'ipv6') &&
    !special.check(address, 'ipv6')
  );
}

function blockList(ipv4: string[], ipv6: string[]): BlockList {
  const list = new BlockList();
  const add = (ranges: string[], family: 'ipv4' | 'ipv6') => {
    for (const range of ranges) {
      const [network, bits] = range.split('/');
      list.addSubnet(network!, Number(bits), family);
    }
  };
  add(ipv4, 'ipv4');
  add(ipv6, 'ipv6');
  return list;
}
