import { expect, test } from '@jest/globals';
import { newDeletion } from '../../shared/generations/deletion.ts';
import type { Generation } from '../../shared/generations/generation.ts';
import { deletionStore } from '../../shared/generations/deletion-store.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { tableOf } from '../support/grants.ts';
import { allObjects } from '../support/objects.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { small } from '../support/requests.ts';
import type { BundleWorld } from './async-bundles.ts';

const tenMinutesMs = 600_000;

/** The part of bundles.test.ts about deletions. */
export function deletionBundleTests(world: () => BundleWorld): void {
  /** A request that failed, accepted some time ago. */
  async function failedRequest(agoMs: number): Promise<Generation> {
    const { licenses, identities } = world().service.ready;
    const table = tableOf(world().service.dataDir);
    const license = (await licenseStore(table).get(licenses.pro!))!;
    const options = { identityId: identities.aurora!, acceptedAtMs: Date.now() - agoMs, referenceImages: 1 };
    const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: '' } as const;
    return generationStore(table).release(
      await reserveAbandoned(table, license, options),
      failure,
      Date.now(),
    );
  }

  test('a request is deleted with its images, by key and by session, and is not found again', async () => {
    const { deployed, service, session } = world();
    const body = {
      ...small,
      licenseId: service.ready.licenses.pro,
      identityId: service.ready.identities.aurora,
    };
    for (const key of [service.ready.keys.pro!, session]) {
      const made = await deployed.call('create-playground-generation', { key: session, body });
      const { requestId: old } = await failedRequest(tenMinutesMs);
      for (const requestId of [made.body.requestId, old]) {
        const options = { key, method: 'DELETE', parameters: { requestId } };
        const deleted = await deployed.call('delete-generation', options);
        expect(deleted).toMatchObject({ status: 200, body: { requestId, deleted: true } });
        const again = await deployed.call('delete-generation', options);
        expect(again).toMatchObject({ status: 404, body: { code: 'REQUEST_NOT_FOUND' } });
        expect(allObjects(service.dataDir).filter((object) => object.key.includes(requestId))).toEqual([]);
      }
    }
  });

  test('the sweep goes on with deletions whose function died', async () => {
    const { deployed, service } = world();
    const deletions = deletionStore(tableOf(service.dataDir));
    for (const agoMs of [tenMinutesMs, 0]) await deletions.begin(newDeletion(await failedRequest(agoMs)), 0);
    const { failed } = await deployed.invoke('sweep', {});
    expect(failed).toBeUndefined();
    expect(deployed.logOf('sweep')).toMatch(/"erased":1/);
  });
}
