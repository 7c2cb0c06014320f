import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { routes } from '../../shared/routes.ts';
import { identityStore } from '../../shared/store/identity-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError } from '../support/answers.ts';
import { anyBodyCase, catalog, identities, type BodyCase } from '../support/body-cases.ts';
import { textOf, verdictOf, type Tier, type Verdict } from '../support/body-model.ts';
import { grant, tableOf } from '../support/grants.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
  await Promise.all(identities.map((identity) => identityStore(table).put(identity)));
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const statuses: Record<string, number> = {
  INVALID_BODY: 400,
  MISSING_IDENTITY: 400,
  IDENTITY_NOT_FOUND: 404,
  IDENTITY_MISMATCH: 401,
  INVALID_PARAMETERS: 400,
  TIER_LIMIT: 400,
  PAYLOAD_TOO_LARGE: 413,
  IDENTITY_UNAVAILABLE: 503,
};

const { quota } = routes.createGeneration.limit;
const keys = new Map<Tier, { key: string; uses: number }>();

/** A key of the tier that has not come to its limit. */
async function keyOf(tier: Tier): Promise<string> {
  let current = keys.get(tier);
  if (current === undefined || current.uses === quota) {
    const { key } = await grant(table, { tier, creditsLimit: 1000 });
    keys.set(tier, (current = { key, uses: 0 }));
  }
  current.uses += 1;
  return current.key;
}

/** No identity here has a model, and no reference image can be had: what the rules let through ends at these. */
function expectedOf(verdict: Verdict): Pick<Verdict, 'named'> & { code: string } {
  const { code, named, references } = verdict;
  if (references > 0) {
    const places = Array.from({ length: references }, (_, i) => `referenceImages[${i}]`);
    return { code: 'INVALID_PARAMETERS', named: places };
  }
  return { code: code ?? 'IDENTITY_UNAVAILABLE', named };
}

/** Whether a stranger's server would be asked for an image. Such requests are other tests'. */
function wouldFetch({ sent }: BodyCase, { references }: Verdict): boolean {
  return references > 0 && JSON.stringify(sent.value).includes('["url",');
}

test('over HTTP every body gets the verdict of the specification too', async () => {
  const codes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(anyBodyCase, async (bodyCase) => {
      const { sent, tier } = bodyCase;
      const verdict = verdictOf(sent, tier, catalog);
      fc.pre(!wouldFetch(bodyCase, verdict));
      const { code, named } = expectedOf(verdict);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      const headers: Record<string, string> =
        sent.contentEncoding === null ? {} : { 'content-encoding': sent.contentEncoding };
      const key = await keyOf(tier);
      const answer = await service.api({ path: '/generate', key, body: textOf(sent), headers });
      expectError(answer, statuses[code]!, code);
      expect(named.filter((name) => !answer.body.error.includes(name))).toEqual([]);
    }),
    // The unit test has the small counterexamples.
    { numRuns: 400, endOnFailure: true },
  );
  console.log(JSON.stringify(Object.fromEntries(codes)));
  for (const code of ['IDENTITY_UNAVAILABLE', 'INVALID_PARAMETERS', 'INVALID_BODY', 'TIER_LIMIT']) {
    expect(codes.get(code)).toBeGreaterThan(4);
  }
}, 300_000);
