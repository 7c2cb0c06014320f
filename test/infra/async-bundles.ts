import { describe, expect, test } from '@jest/globals';
import { failureRecord } from '../../local/lambda/event-queue.ts';
import type { DeployedCall } from '../support/deployed-calls.ts';
import type { Deployed } from '../support/deployed.ts';
import { allObjects } from '../support/objects.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import type { RunningService } from '../support/service.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';

export interface BundleWorld {
  deployed: Deployed;
  service: RunningService;
  session: string;
}

const headers = { prefer: 'respond-async' };
const generate = 'create-generation';
const playground = 'create-playground-generation';

/** The part of bundles.test.ts about requests that nobody waits for. */
export function asyncBundleTests(world: () => BundleWorld): void {
  const deployed = () => world().deployed;
  const service = () => world().service;
  const call = (name: string, options: DeployedCall) => deployed().call(name, options);
  const byKey = (options: DeployedCall = {}) => ({ key: service().ready.keys.pro!, ...options });
  const body = (more: object = {}) => ({ ...small, identityId: service().ready.identities.aurora, ...more });

  describe('with Prefer: respond-async', () => {
    test('a request is handed over, and the worker paints it: with references, and with an adapter', async () => {
      const { citrine } = service().ready.identities;
      const { body: upload } = await call('create-upload', byKey({ body: {} }));
      await sendFile(upload, await samplePhoto());
      const referenceImages = [{ uploadId: upload.uploadId }];
      const adapted = { licenseId: service().ready.licenses.pro!, identityId: deployed().adaptedIdentityId };
      const answers = [
        await call(generate, byKey({ headers, body: body({ identityId: citrine, referenceImages }) })),
        await call(playground, { key: world().session, headers, body: body(adapted) }),
      ];
      await deployed().idle();
      for (const { status, headers: sent, body: accepted } of answers) {
        expect([status, accepted.status]).toEqual([202, 'QUEUED']);
        expect(sent.location).toBe(`/api/v1/generate/${accepted.requestId}`);
        const { body: stored } = await call(
          'get-generation',
          byKey({ parameters: { requestId: accepted.requestId } }),
        );
        expect(stored.status).toBe('COMPLETED');
        await openImage(stored.outputUrl);
      }
      const copies = allObjects(service().dataDir).filter(({ key }) => key.startsWith('references/'));
      expect(copies).toEqual([]);
    });

    test('one that fails gives its credits and its idempotency key back', async () => {
      const failing = body({ identityId: service().ready.identities.flint });
      const key = service().ready.keys.starter!;
      const request = { key, headers: { ...headers, 'idempotency-key': 'bundle-5' }, body: failing };
      for (const _ of [1, 2]) {
        expect((await call(generate, request)).status).toBe(202);
        await deployed().idle();
      }
      expect(deployed().logOf('run-generation')).toMatch(/"CreditsReleased":1/);
    });

    test('one whose run failed is released, with its references and its idempotency key', async () => {
      const { licenseId: ofLicense, requestId: abandoned } = await deployed().abandonGeneration();
      const record = failureRecord(
        'run-generation',
        { licenseId: ofLicense, requestId: abandoned },
        new Error('x'),
      );
      for (const _ of [1, 2]) {
        const { failed } = await deployed().invoke('release-generation', record);
        expect(failed).toBeUndefined();
      }
      expect(deployed().logOf('release-generation')).toMatch(
        /"released":true.*"CreditsReleased":1[^]*"released":false/,
      );
    });

    test('one that the worker gets too late is released by the worker', async () => {
      const { licenseId: ofLicense, requestId: late } = await deployed().abandonGeneration();
      await deployed().take('run-generation', { licenseId: ofLicense, requestId: late });
      expect(deployed().logOf('run-generation')).toMatch(/"outcome":"TIMEOUT"/);
    });

    test('whatever else the two are told, they do nothing', async () => {
      const hostile = [
        null,
        7,
        'x',
        [],
        {},
        { requestPayload: null },
        { requestContext: {}, requestPayload: { licenseId: '../x', requestId: 'GEN#' } },
      ];
      for (const event of hostile) {
        const asked = deployed().asked('release-generation').length;
        const { failed } = await deployed().invoke('release-generation', event);
        expect([event, failed]).toEqual([event, undefined]);
        expect(deployed().asked('release-generation').length).toBe(asked);
        const run = await deployed().invoke('run-generation', event);
        expect([event, run.failed !== undefined]).toEqual([event, true]);
      }
      // What the worker can't read comes to the other as Lambda's record, and is no more to it.
      await deployed().take('run-generation', { licenseId: '../x' });
      expect(deployed().logOf('release-generation')).toContain('not a record of a failed invocation');
    });
  });
}
