import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/routes.ts';
import { expectError } from '../support/answers.ts';
import { fixedTableOf } from '../support/books.ts';
import { encodedBodies, hostileBodies } from '../support/hostile-bodies.ts';
import {
  callersOf,
  marker,
  membersOf,
  objectOf,
  send,
  ways,
  type Target,
  type Way,
} from '../support/hostile.ts';
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

const posts = ways.filter(({ route }) => route.method === 'POST');

describe.each(posts)('$name', (way) => {
  const own = <T extends { way: Way }>(all: T[]) => all.filter((hostile) => hostile.way === way);

  test.each(own(hostileBodies))(
    'answers $code to a body of $what',
    async ({ request, status, code, says }) => {
      const answer = await send(target, way, request);
      expectError(answer, status, code);
      expect(answer.body.error).toMatch(/^[ -~]{1,2000}$/);
      expect(answer.body.error).toContain(says ?? '');
      if (code === 'INVALID_BODY') expect(answer.body.error).not.toContain(marker);
    },
  );

  test.each(own(encodedBodies))('wants a body without the Content-Encoding $what', async (hostile) => {
    const answer = await send(target, way, hostile.request);
    expectError(answer, hostile.status, hostile.code);
    expect(answer.body.error).toContain(hostile.says);
  });

  test('reads the same body without them, with identity for its encoding, and with any Content-Type', async () => {
    const types = ['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'x', ''];
    const headers: [string, string][][] = [
      [],
      [['Content-Encoding', 'Identity']],
      [
        ['Content-Type', 'text/plain'],
        ['Content-Type', 'image/png'],
      ],
      ...types.map((type): [string, string][] => [['Content-Type', type]]),
    ];
    const statuses = await Promise.all(
      headers.map(async (sent) => (await send(target, way, () => ({ headers: sent }))).status),
    );
    expect(new Set(statuses)).toEqual(new Set([acceptedStatus(way)]));
  });

  test('reads integers however they are written', async () => {
    if (!way.route.streams) return;
    for (const extra of ['"seed":1e3', '"seed":-0', '"numInferenceSteps":30.0', '"width":5120e-1']) {
      const { status } = await send(target, way, (caller) => ({
        body: objectOf([...membersOf(way, caller), extra]),
      }));
      expect([extra, status]).toEqual([extra, 503]);
    }
  });

  test('takes no body at all only where there is nothing that must be said', async () => {
    const answer = await send(target, way, () => ({ body: '' }));
    if (way.route === routes.createUpload && way.by === 'key') expect(answer.status).toBe(201);
    else if (way.route === routes.createUpload) expectError(answer, 400, 'INVALID_PARAMETERS');
    else expectError(answer, 400, 'INVALID_BODY');
  });
});

/** What is right reaches an identity that has no model. */
function acceptedStatus({ route }: Way): number {
  return route.streams ? 503 : 201;
}

test('no prototype was touched by any of it: requests go on as before', async () => {
  const { status, body } = await send(
    target,
    ways.find(({ route }) => route === routes.listKeys)!,
    () => ({}),
  );
  expect([status, Object.keys(body)]).toEqual([200, ['keys']]);
  expect(({} as Record<string, unknown>).seed).toBeUndefined();
});
