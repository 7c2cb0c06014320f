import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';
import { fingerprintApiKey } from '../../../shared/domain/api-key.ts';
import { billingPeriod } from '../../../shared/domain/billing-period.ts';
import { newGeneration, type Generation } from '../../../shared/domain/generation.ts';
import { newRequestId } from '../../../shared/domain/ids.ts';
import type { Identity } from '../../../shared/domain/identity.ts';
import type { License } from '../../../shared/domain/license.ts';
import { apiKeyStore } from '../../../shared/store/api-key-store.ts';
import { generationStore } from '../../../shared/store/generation-store.ts';
import { licenseStore } from '../../../shared/store/license-store.ts';
import { openTable, type Table } from '../../../shared/store/table.ts';
import { periodTotals } from '../../support/period-totals.ts';
import { newLicense } from '../../support/grants.ts';
import type { World } from './world.ts';

const repository = new URL('../../..', import.meta.url).pathname;
const identity = { identityId: 'idn_test', name: 'Test', slug: 'test' } as Identity;
const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It failed.' } as const;
const completion = () => ({ completedAtMs: Date.now(), referenceImagesUsed: 0, modelVersion: '1' });

/** A request that costs two credits. */
function request(license: License, idempotencyKeyHash: string | null = null): Generation {
  const body = { identityId: identity.identityId, prompt: 'x', numOutputs: 2, width: 1024, height: 1024 };
  const nowMs = Date.now();
  return newGeneration({
    requestId: newRequestId(nowMs),
    licenseId: license.licenseId,
    keyId: `key_of_${license.licenseId}`,
    identity,
    body: createGenerationBody.parse(body),
    periodStartMs: billingPeriod(license.periodAnchorMs, nowMs).startMs,
    nowMs,
    deadlineSeconds: 60,
    retentionDays: 90,
    idempotencyKeyHash,
  });
}

/** Uses the deployed table: moto's DynamoDB is another implementation than the local engine. */
export function describeRecords(world: () => World): void {
  let table: Table;
  let generations: ReturnType<typeof generationStore>;

  /** The operator's CLI, which finds the table by the stack's name. */
  const admin = (command: string) => {
    const { stackName, moto } = world();
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['bin/admin.ts', '--json', '--stack', stackName, ...command.split(' ')],
      { cwd: repository, env: moto.environment, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`admin ended with ${status}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const newStoredLicense = async (creditsLimit: number) => {
    const license = newLicense({ creditsLimit });
    await licenseStore(table).insert(license);
    return license;
  };
  const reserve = (generation: Generation, license: License, bodyHash?: string) =>
    generations.reserve(generation, license.creditsLimit, bodyHash ? { bodyHash } : null);

  beforeAll(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, world().moto.environment);
    table = openTable(world().outputs['TableName']!);
    generations = generationStore(table);
  });

  describe('in the deployed table', () => {
    test("the operator's CLI grants a license and issues a key that the service finds", async () => {
      const { licenseId } = admin('license grant --owner sub-1 --tier pro --founding-catalog');
      const { key } = admin(`key issue ${licenseId} --name first`);
      const found = await apiKeyStore(table).get(fingerprintApiKey(key).keyId);
      expect(found).toMatchObject({ licenseId, ownerId: 'sub-1', name: 'first', revokedAtMs: null });
    }, 60_000);

    test('credits are held when a request is stored, and used once it is settled, once', async () => {
      const license = await newStoredLicense(10);
      const generation = request(license);
      expect(await reserve(generation, license)).toEqual({ outcome: 'reserved' });
      expect(await periodTotals(table, license)).toEqual({ committed: 2, used: 0 });
      expect(await generations.start(generation, Date.now())).toBe(true);
      const first = await generations.settle(generation, completion());
      const second = await generations.settle(generation, completion());
      expect([first.status, second.completedAtMs]).toEqual(['COMPLETED', first.completedAtMs]);
      expect(await periodTotals(table, license)).toEqual({ committed: 2, used: 2 });
      expect(await generations.get(license.licenseId, generation.requestId)).toMatchObject({
        status: 'COMPLETED',
        modelVersion: '1',
      });
    });

    test('credits are given back when a request fails, once, and it can no longer be settled', async () => {
      const license = await newStoredLicense(10);
      const generation = request(license);
      await reserve(generation, license);
      await generations.start(generation, Date.now());
      await generations.release(generation, failure, Date.now());
      await generations.release(generation, failure, Date.now());
      const late = await generations.settle(generation, completion());
      expect(late.status).toBe('FAILED');
      expect(await periodTotals(table, license)).toEqual({ committed: 0, used: 0 });
    });

    // One after the other: moto does not isolate concurrent transactions.
    test('as many requests are accepted as there are credits', async () => {
      const license = await newStoredLicense(5);
      const outcomes = [];
      for (let i = 0; i < 3; i++) outcomes.push((await reserve(request(license), license)).outcome);
      expect(outcomes).toEqual(['reserved', 'reserved', 'over_limit']);
      expect(await periodTotals(table, license)).toEqual({ committed: 4, used: 0 });
    });

    test('an idempotency key is taken once, tells who has it, and is free again after a failure', async () => {
      const license = await newStoredLicense(10);
      const [first, second] = [request(license, 'hash'), request(license, 'hash')];
      await reserve(first, license, 'hash');
      expect(await reserve(second, license, 'other')).toMatchObject({
        outcome: 'repeated',
        idempotencyRecord: { requestId: first.requestId, bodyHash: 'hash' },
      });
      expect(await periodTotals(table, license)).toEqual({ committed: 2, used: 0 });
      await generations.release(first, failure, Date.now());
      expect(await reserve(second, license, 'other')).toEqual({ outcome: 'reserved' });
    });
  });
}
