import { isIP } from 'node:net';

/**
 * Which addresses are public, by the registries and integers alone. The product's own rule is compared with it.
 * Blocks that IANA's special-purpose registries call globally reachable (AS112, AMT, PCP anycast …) are in the list:
 * nobody keeps pictures there.
 *
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries; IANA IPv4 Multicast Address Space.
 */
export const specialIpv4Blocks: readonly (readonly [block: string, name: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private use'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private use'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay anycast'],
  ['192.168.0.0/16', 'private use'],
  ['192.175.48.0/24', 'AS112 delegation'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved, and the limited broadcast'],
];

/** The only part of IPv6 that is given to hosts of the public internet. */
export const globalUnicastBlock = '2000::/3';

/** The special blocks within it. */
export const specialIpv6Blocks: readonly (readonly [block: string, name: string])[] = [
  ['2001::/23', 'protocol assignments, Teredo and ORCHID among them'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
];

export interface Block {
  version: 4 | 6;
  first: bigint;
  last: bigint;
}

const bitsOf = { 4: 32, 6: 128 } as const;

/** @returns the integer that a dotted IPv4 address or an IPv6 address in any of its spellings stands for */
export function valueOf(address: string): bigint {
  const version = isIP(address);
  if (version === 4) {
    return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
  }
  if (version !== 6 || address.includes('%')) throw new Error(`not an address: ${address}`);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const low = dotted ? valueOf(dotted[2]!) : 0n;
  const text = dotted ? `${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}` : address;
  const [before = '', after] = text.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
}

/** @returns an address of which no group is left out */
export function addressOf(value: bigint, version: 4 | 6): string {
  const digits = value.toString(16).padStart(bitsOf[version] / 4, '0');
  if (version === 6) return digits.match(/.{4}/g)!.join(':');
  const bytes = digits.match(/../g)!.map((byte) => Number.parseInt(byte, 16));
  return bytes.join('.');
}

export function blockOf(text: string): Block {
  const [address = '', length] = text.split('/');
  const version = isIP(address) as 4 | 6;
  const size = 1n << BigInt(bitsOf[version] - Number(length));
  const first = valueOf(address);
  if (first % size !== 0n) throw new Error(`${text} does not begin where its prefix does`);
  return { version, first, last: first + size - 1n };
}

const holds = (block: Block) => (value: bigint) => block.first <= value && value <= block.last;
const inSpecialIpv4 = specialIpv4Blocks.map(([text]) => holds(blockOf(text)));
const inSpecialIpv6 = specialIpv6Blocks.map(([text]) => holds(blockOf(text)));
const inGlobalUnicast = holds(blockOf(globalUnicastBlock));

export function isPublicByRegistries(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  const value = valueOf(address);
  if (version === 4) return !inSpecialIpv4.some((isIn) => isIn(value));
  return inGlobalUnicast(value) && !inSpecialIpv6.some((isIn) => isIn(value));
}
