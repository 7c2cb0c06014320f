import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  accountCallerId,
  firstRequestIdAt,
  isAccountCallerId,
  isId,
  isKeyId,
  isRequestId,
  readRequestId,
  newId,
  newRequestId,
  requestIdTimeMs,
  newRunId,
} from '../../../shared/base/ids.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { anyId, anyInstantMs, anyRequestId } from '../../support/unit-samples.ts';

describe('request ids', () => {
  test('are UUIDs of version 7 in lower case, with their time in the first 48 bits (RFC 9562)', () => {
    fc.assert(
      fc.property(anyInstantMs, (nowMs) => {
        const id = newRequestId(nowMs);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(nowMs);
      }),
    );
  });

  test('hold when they were made, and none of an instant comes before its first', () => {
    fc.assert(
      fc.property(anyInstantMs, (ms) => {
        const id = newRequestId(ms);
        const first = firstRequestIdAt(ms);
        expect([id, first].map(requestIdTimeMs)).toEqual([ms, ms]);
        expect(isRequestId(first)).toBe(true);
        expect(first <= id && newRequestId(ms - 1) < first).toBe(true);
      }),
    );
    expect(firstRequestIdAt(-1)).toBe('00000000-0000-7000-8000-000000000000');
  });

  test('are accepted in their one spelling only', () => {
    fc.assert(
      fc.property(anyRequestId, (id) => {
        expect(isRequestId(id)).toBe(true);
        // An id without letters is equal to its upper case.
        if (/[a-f]/.test(id)) expect(isRequestId(id.toUpperCase())).toBe(false);
        expect(
          [id.toUpperCase(), `${id.slice(0, 9)}${id.slice(9).toUpperCase()}`].map(readRequestId),
        ).toEqual([id, id]);
        const others = [id.replaceAll('-', ''), ` ${id}`, `${id}\n`, id.slice(1), `${id}0`];
        expect(others.filter(isRequestId)).toEqual([]);
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['version 4', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
    ['another variant', '01890a5d-ac96-774b-ccce-b302099a8057'],
  ])('%s is none', (_what, text) => expect(isRequestId(text)).toBe(false));
});

describe('ids', () => {
  test.each([
    ['license', 'lic_'],
    ['identity', 'idn_'],
  ] as const)(
    'a new %s id begins with %s, has the shape of an id and is never made twice',
    (kind, prefix) => {
      const ids = Array.from({ length: 1000 }, () => newId(kind));
      for (const id of ids) expect(id).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{20}$`));
      expect(ids.every(isId)).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  test('readable ids of up to 64 characters are ids', () => {
    fc.assert(fc.property(anyId, (id) => expect(isId(id)).toBe(true)));
    expect(isId('a'.repeat(64))).toBe(true);
    expect(isId('a'.repeat(65))).toBe(false);
  });

  test.each([
    ['nothing', ''],
    ['a leading hyphen', '-a'],
    ['__proto__', '__proto__'],
    ['a line break at the end', 'a\n'],
    ['a letter that lower-cases into ASCII', '\u212a'],
  ])('%s is none', (_what, text) => expect(isId(text)).toBe(false));

  test('one character of any other kind, anywhere, makes a text no id', () => {
    const other = fc
      .string({ unit: anyCharacter, minLength: 1, maxLength: 3 })
      .filter((text) => !/^[\w-]*$/.test(text));
    fc.assert(
      fc.property(anyId, fc.nat({ max: 60 }), other, (id, place, inserted) => {
        expect(isId(id.slice(0, place) + inserted + id.slice(place))).toBe(false);
      }),
    );
  });
});

test('what an account does is kept under acct_ and its owner, where no key’s id can be', () => {
  expect(accountCallerId('5d1c7a52')).toBe('acct_5d1c7a52');
  expect(isKeyId(accountCallerId('0'.repeat(32)))).toBe(false);
  expect([accountCallerId('x'), `key_${'0'.repeat(32)}`].map(isAccountCallerId)).toEqual([true, false]);
});

test('each run has an id of its own', () => {
  const [one, other] = [newRunId(), newRunId()];
  expect(one).toMatch(/^[0-9a-f]{8}$/);
  expect(one).not.toBe(other);
});

test('each new id takes random bytes of its own, so a simulation does not depend on those before it', () => {
  const taken = jest.spyOn(crypto, 'getRandomValues');
  for (let ids = 1; ids <= 300; ids++) {
    newId('license');
    expect(taken.mock.calls.length).toBeGreaterThanOrEqual(ids);
  }
  taken.mockRestore();
});
