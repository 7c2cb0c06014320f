import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectError } from '../support/answers.ts';
import { fixedTableOf } from '../support/books.ts';
import {
  hostileCredentials,
  hostileIdempotencyKeys,
  idleHeaderRequests,
  strangeIdempotencyKeys,
} from '../support/hostile-headers.ts';
import { callersOf, isGenerating, send, ways, type Hostile, type Target } from '../support/hostile.ts';
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

async function expectRefused({ way, request, status, code, says = '' }: Hostile): Promise<void> {
  const answer = await send(target, way, request);
  expectError(answer, status, code);
  expect(answer.body.error).toContain(says);
}

describe.each(ways)('$name', (way) => {
  const own = (all: Hostile[]) => all.filter((hostile) => hostile.way === way);

  if (way.by === null) {
    test('needs no credential, and minds none', async () => {
      for (const authorization of [[], [''], ['Bearer x'], ['Bearer x', 'Bearer y'], ['\xe9']]) {
        expect((await send(target, way, () => ({ authorization }))).status).toBe(200);
      }
    });
    return;
  }

  test.each(own(hostileCredentials))('answers $code to an Authorization with $what', expectRefused);

  test('takes its credential in any case, with spaces around it', async () => {
    for (const name of ['AUTHORIZATION', 'authorization', 'aUtHoRiZaTiOn']) {
      const answer = await send(target, way, (caller) => ({
        authorization: [],
        headers: [[name, `  bEARER   ${caller[way.by!]}  `]],
      }));
      expect([200, 201, 400, 404, 503]).toContain(answer.status);
    }
  });

  if (way.route.method === 'POST') {
    test.each(own(idleHeaderRequests))('answers the same in JSON whatever the headers: $what', expectRefused);
  }

  if (isGenerating(way)) {
    test.each(own(hostileIdempotencyKeys))('takes no Idempotency-Key of $what', expectRefused);

    test.each(strangeIdempotencyKeys)('takes the Idempotency-Key %s', async (key) => {
      const { body } = await send(target, way, () => ({ headers: [['IDEMPOTENCY-key', key]] }));
      expect(body.code).toBe('IDENTITY_UNAVAILABLE');
    });
  }
});
