import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/domain/ids.ts';
import { writeCursor } from '../../shared/http/paging.ts';
import { routes } from '../../shared/routes.ts';
import { expectError } from '../support/answers.ts';
import { fixedTableOf } from '../support/books.ts';
import { hostileMethods, hostilePaths, hostileQueries } from '../support/hostile-paths.ts';
import { hostileIds, hostileLicenses, hostileValues } from '../support/hostile-values.ts';
import { callersOf, send, ways, type Hostile, type Target } from '../support/hostile.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let service: RunningService;
let target: Target;

beforeAll(async () => {
  service = await startService();
  const table = await fixedTableOf(service.dataDir);
  target = { baseUrl: service.ready.baseUrl, caller: callersOf(service, table) };
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

/** Sends every request of a table, one after the other. @returns those that were answered otherwise. */
async function otherwise(all: Hostile[]): Promise<unknown[]> {
  expect(all.length).toBeGreaterThan(0);
  const found: unknown[] = [];
  for (const { what, way, request, status, code, says = '' } of all) {
    const answer = await send(target, way, request);
    const isHead = what === 'HEAD';
    const { error = '' } = answer.body;
    if (!isHead) expectErrorShape(answer);
    const asWanted = answer.status === status && (isHead || answer.body.code === code);
    if (!asWanted || !error.includes(says) || !/^[ -~]*$/.test(error) || error.length > 1000) {
      found.push({ what, status: answer.status, ...answer.body });
    }
  }
  return found;
}

function expectErrorShape(answer: Awaited<ReturnType<typeof send>>): void {
  if (answer.status >= 400) expectError(answer, answer.status, answer.body.code);
}

describe.each(ways)('$name', (way) => {
  const own = (all: Hostile[]) => all.filter((hostile) => hostile.way === way);

  test('is at its path alone, and knows its ids by their shape', async () => {
    expect(await otherwise(own(hostilePaths))).toEqual([]);
  });

  test('is NOT_FOUND by other methods', async () => {
    expect(await otherwise(own(hostileMethods))).toEqual([]);
  });

  test('refuses unknown query parameters by names that are safe to read', async () => {
    expect(await otherwise(own(hostileQueries))).toEqual([]);
  });

  if (way.route === routes.listGenerations) {
    test('refuses values that its parameters do not have', async () => {
      expect(await otherwise(own(hostileValues))).toEqual([]);
    });

    test('gives nothing for a forged cursor', async () => {
      for (const requestId of [newRequestId(0), newRequestId(Date.now() + 1e9)]) {
        const { status, body } = await send(target, way, ({ licenseId }) => ({
          query: `?cursor=${writeCursor(requestId)}${way.by === 'session' ? `&licenseId=${licenseId}` : ''}`,
        }));
        expect([status, body]).toEqual([200, { generations: [], nextCursor: null }]);
      }
    });
  }

  if (own(hostileLicenses).length > 0) {
    test('looks for no license whose id is none', async () => {
      expect(await otherwise(own(hostileLicenses))).toEqual([]);
    });
  }

  if (own(hostileIds).length > 0) {
    test('looks for nothing whose id in the body is none', async () => {
      expect(await otherwise(own(hostileIds))).toEqual([]);
    });
  }
});

test('a path above or beside the base address is no endpoint', async () => {
  const { origin } = new URL(service.ready.baseUrl);
  const [way] = ways.filter(({ route }) => route === routes.getHealth);
  for (const path of [
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/',
    '/api/v2/health',
    '/api/v1%2Fhealth',
    '/api/V1/health',
  ]) {
    const answer = await send({ ...target, baseUrl: origin }, way!, () => ({ path: path.slice(1) }));
    expectError(answer, 404, 'NOT_FOUND');
  }
});
