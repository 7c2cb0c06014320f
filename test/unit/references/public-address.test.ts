import { isIP } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isPublicAddress } from '../../../shared/references/public-address.ts';
import {
  addressOf,
  blockOf,
  globalUnicastBlock,
  isPublicByRegistries,
  specialIpv4Blocks,
  specialIpv6Blocks,
} from '../../support/internet/address-model.ts';

const ipv4Values = fc.bigInt(0n, 2n ** 32n - 1n);
const ipv6Values = fc.bigInt(0n, 2n ** 128n - 1n);
const globalBlock = blockOf(globalUnicastBlock);
const blocks = [...specialIpv4Blocks, ...specialIpv6Blocks, [globalUnicastBlock, 'global unicast'] as const];

/** Values near where a block begins or ends, of which a few lie beyond all addresses. */
const nearEdges = (version: 4 | 6) =>
  fc
    .tuple(
      fc.constantFrom(...blocks.map(([text]) => blockOf(text)).filter((block) => block.version === version)),
      fc.boolean(),
      fc.bigInt(-300n, 300n),
    )
    .map(([{ first, last }, isFirst, distance]) => (isFirst ? first : last) + distance)
    .filter((value) => value >= 0n && value < 2n ** (version === 4 ? 32n : 128n));

describe('an address is public exactly when IANA has given it to the internet:', () => {
  test.each(blocks)('%s (%s) within and beside its edges', (text) => {
    const { first, last, version } = blockOf(text);
    const values = [first - 1n, first, first + 1n, (first + last) / 2n, last - 1n, last, last + 1n];
    const exist = values.filter((value) => value >= 0n && value < 2n ** (version === 4 ? 32n : 128n));
    for (const address of exist.map((value) => addressOf(value, version)))
      expect([address, isPublicAddress(address)]).toEqual([address, isPublicByRegistries(address)]);
  });

  test('well-known public addresses are', () => {
    const known = '1.1.1.1 8.8.8.8 93.184.215.14 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450::1';
    const refused = known.split(' ').filter((address) => !isPublicAddress(address));
    expect(refused).toEqual([]);
  });

  test('any IPv4 address', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4Values, nearEdges(4)), (value) => {
        const address = addressOf(value, 4);
        expect(isPublicAddress(address)).toBe(isPublicByRegistries(address));
      }),
      { numRuns: 2000 },
    );
  });

  test('any IPv6 address, however it is spelled', () => {
    const inGlobal = fc.bigInt(globalBlock.first, globalBlock.last);
    const values = fc.oneof(ipv6Values, inGlobal, nearEdges(6));
    fc.assert(
      fc.property(values, fc.boolean(), fc.boolean(), (value, isShort, isUpper) => {
        const plain = addressOf(value, 6);
        // The URL parser writes the shortest form.
        const short = isShort ? new URL(`http://[${plain}]/`).hostname.slice(1, -1) : plain;
        const address = isUpper ? short.toUpperCase() : short;
        expect(isPublicAddress(address)).toBe(isPublicByRegistries(plain));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an IPv4 address within an IPv6 address never makes it public:', () => {
  const group = (value: bigint) => `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  const dotted = (value: bigint) => addressOf(value, 4);
  test.each<[string, (value: bigint) => string]>([
    ['mapped', (value) => `::ffff:${dotted(value)}`],
    ['mapped, in groups', (value) => `::ffff:${group(value)}`],
    ['NAT64', (value) => `64:ff9b::${dotted(value)}`],
    ['6to4', (value) => `2002:${group(value)}::1`],
    ['Teredo client', (value) => `2001::${group(value ^ 0xffffffffn)}`],
    ['ISATAP on a link', (value) => `fe80::5efe:${dotted(value)}`],
  ])('%s', (_, embed) => {
    fc.assert(
      fc.property(fc.oneof(ipv4Values, nearEdges(4)), (value) => {
        expect(isIP(embed(value))).toBe(6);
        expect(isPublicAddress(embed(value))).toBe(false);
      }),
    );
  });
});

test.each([
  '',
  '1.1.1.1 ',
  ' 1.1.1.1',
  ...'1.1.1 1.1.1.1. 01.1.1.1 0x1.1.1.1 16843009 1.1.1.256 1.1.1.1/32'.split(' '),
  ...'2606:4700:4700::1111%eth0 [2606:4700:4700::1111] 2606:4700 ::: cat.example'.split(' '),
])('what is no plain address is not public: %j', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});
