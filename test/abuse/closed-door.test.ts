import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { isOfApi, openDoor, type Knock } from '../support/door.ts';
import { grant } from '../support/grants.ts';
import { idOf, type Template } from '../support/policies.ts';
import { small } from '../support/requests.ts';
import { sessionOf } from '../support/sessions.ts';
import { templateOf } from '../support/stack-templates.ts';
import { useService } from '../support/use-service.ts';

const service = useService({ quickContainer: true });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const generation = { method: 'POST', path: '/generate', runsMs: 20 };
const unknownKey = newApiKey();

/** Nine addresses send 100 requests a second, without a key or with junk; one sends 10, with what looks like a key. */
function floodAt(atMs: number): Knock[] {
  const i = atMs % 10;
  if (i === 9 && atMs % 100 !== 9) return [];
  const headers = i < 5 ? {} : bearer(i < 9 ? 'svc_live_junk' : unknownKey);
  return [{ ...generation, address: `flood-${i}`, headers }];
}

/** A flood of 30 seconds. @returns the door then, what of it passed, and which of 30 honest requests of each kind were refused */
function besiege(template: Template, honest: Record<string, Knock>) {
  const door = openDoor(template, 1000);
  const refused = Object.fromEntries(Object.keys(honest).map((name) => [name, 0]));
  let passed = 0;
  for (let atMs = 0; atMs < 30_000; atMs++) {
    for (const knock of floodAt(atMs)) if (door(knock, atMs) === null) passed++;
    if (atMs % 1000 !== 505) continue;
    for (const [name, knock] of Object.entries(honest)) if (door(knock, atMs) !== null) refused[name]!++;
  }
  return { door, passed, refused };
}

/** The same door without the rule for requests without credentials, and with the throttle that every account had. */
function formerTemplate(): Template {
  const template = structuredClone(templateOf('default'));
  const { Properties: acl } = template.Resources[idOf(template, 'AWS::WAFv2::WebACL', isOfApi)]!;
  acl.Rules = acl.Rules.filter(({ Name }: any) => Name !== 'requests-without-credentials');
  return template;
}

test('ten addresses that flood keep no owner from revoking a key, and no other tenant from a picture', async () => {
  const [owner, tenant] = [await grant(service.table, { ownerId: randomUUID() }), await grant(service.table)];
  const session = await sessionOf(service.dataDir, { sub: owner.license.ownerId });
  const honest = {
    // From an address that floods.
    revocation: {
      method: 'DELETE',
      path: `/keys/${owner.keyId}`,
      address: 'flood-0',
      headers: bearer(session),
    },
    health: { method: 'GET', path: '/health', address: 'monitor', headers: {} },
    generation: { ...generation, address: 'tenant', headers: bearer(tenant.key) },
  };
  const knocks = Object.fromEntries(
    Object.entries(honest).map(([name, knock]) => [name, { runsMs: 20, ...knock }]),
  );
  const before = besiege(formerTemplate(), knocks);
  const unasked = besiege(templateOf('default'), knocks);
  const { door, ...usual } = besiege(templateOf('existingEndpoint'), knocks);
  expect(before.refused).toMatchObject({ revocation: 0, generation: 30 });
  // The first requests without credentials come until the firewall knows their addresses.
  expect(unasked.refused).toEqual({ revocation: 0, health: 0, generation: expect.any(Number) });
  expect(unasked.refused.generation).toBeLessThan(5);
  expect(usual.refused).toEqual({ revocation: 0, health: 0, generation: 0 });

  const body = { ...small, identityId: service.ready.identities.citrine };
  const startedMs = performance.now();
  let revokedMs = 0;
  const through = async (knock: Knock, key?: string) => {
    if (door(knock, 30_500) !== null) return 429;
    const { method, path } = knock;
    const { status } = await service.api({ method, path, key, ...(method === 'POST' && { body }) });
    if (method === 'DELETE') revokedMs = performance.now() - startedMs;
    return status;
  };
  const flood = Array.from({ length: 1000 }, (_, i) => floodAt(30_000 + i)).flat();
  const [revoked, generated, ...refused] = await Promise.all([
    through(knocks.revocation!, session),
    through(knocks.generation!, tenant.key),
    ...flood.map((knock) => through(knock, unknownKey)),
  ]);
  expect([revoked, generated, new Set(refused)]).toEqual([200, 200, new Set([429, 401])]);

  let held = 0;
  while (door({ ...knocks.generation!, address: `tenant-${held}`, runsMs: 60_000 }, 31_000) === null) held++;
  expect(held).toBeGreaterThan(500);
  const then = Object.values(knocks).map((knock) => door(knock, 31_001));
  expect(then).toEqual([null, null, 'executions']);
  console.log(
    `of ${flood.length * 30} requests of ten addresses ${before.passed} passed before and ${before.refused.generation} of a tenant's 30 were refused; ` +
      `now ${unasked.passed} and ${unasked.refused.generation} where the quota is unknown, ${usual.passed} and ${usual.refused.generation} with 1,000 executions; ` +
      `a revocation took ${revokedMs.toFixed(0)} ms beside the flood, and passes beside ${held} waiting generations`,
  );
});
