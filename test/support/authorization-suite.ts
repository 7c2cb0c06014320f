import { beforeAll, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/domain/api-key.ts';
import type { Route } from '../../shared/routes.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError } from './answers.ts';
import { grant } from './grants.ts';
import { sendRaw, type RawAnswer } from './raw-request.ts';

/** What must hold for the Authorization header of every route that takes API keys. */
export function testAuthorization(route: Route, of: () => { baseUrl: string; table: Table }): void {
  let key: string;
  let other: string;

  beforeAll(async () => {
    [{ key }, { key: other }] = await Promise.all([grant(of().table), grant(of().table)]);
  });

  const path = route.path.replace(/\{\w+\}/g, 'x');
  const send = (...headers: [string, string][]) =>
    sendRaw(of().baseUrl, { method: route.method, path, headers });
  const authorize = (...values: string[]) =>
    send(...values.map((value): [string, string] => ['authorization', value]));

  function expectNobody({ status, headers, text }: RawAnswer): void {
    expectError({ status, headers, body: JSON.parse(text) }, 401, 'INVALID_API_KEY');
  }

  test('may say bearer in any case and with several spaces', async () => {
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer    ']) {
      const { text } = await authorize(scheme + key);
      expect([scheme, JSON.parse(text).code]).not.toEqual([scheme, 'INVALID_API_KEY']);
    }
  });

  test('sent twice is nobody, even with the same key', async () => {
    for (const second of [key, other, newApiKey(), '']) {
      expectNobody(await authorize(`Bearer ${key}`, `Bearer ${second}`));
    }
  });

  test('left out, empty, or with a key in another scheme or shape is nobody', async () => {
    expectNobody(await authorize());
    const basic = Buffer.from(`${key}:`).toString('base64');
    const inOtherShapes = [`Bearer "${key}"`, `Bearer ${key} x`, `Bearer ${key},Bearer ${key}`];
    const inOtherSchemes = [key, `Basic ${basic}`, `Token ${key}`, `Bearer${key}`];
    for (const value of ['', 'Bearer', 'Bearer ', ...inOtherSchemes, ...inOtherShapes]) {
      expectNobody(await authorize(value));
    }
    const mistyped = [key.toLowerCase(), key.slice(0, -1), `${key}0`, key.replace('svc_live_', 'svc_test_')];
    for (const value of mistyped) expectNobody(await authorize(`Bearer ${value}`));
  });

  test('is the only place for a key', async () => {
    expectNobody(await send(['x-api-key', key]));
    expectNobody(await send(['cookie', `key=${key}`]));
  });
}
