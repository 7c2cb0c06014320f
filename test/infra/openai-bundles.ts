import { describe, expect, test } from '@jest/globals';
import type { DeployedCall } from '../support/deployed-calls.ts';
import { openImage } from '../support/png.ts';
import type { BundleWorld } from './async-bundles.ts';

const generate = 'create-openai-image';

/** The part of bundles.test.ts about OpenAI's format. */
export function openAiBundleTests(world: () => BundleWorld): void {
  const byKey = (options: DeployedCall = {}) => ({ key: world().service.ready.keys.enterprise!, ...options });
  const call = (name: string, options: DeployedCall) => world().deployed.call(name, byKey(options));
  const body = (more: object = {}) => ({
    model: 'aurora',
    prompt: 'a quiet test',
    size: '512x512',
    steps: 20,
    ...more,
  });

  describe("in OpenAI's format", () => {
    test('images are made by slug, by link and in the answer, and replayed', async () => {
      const { status, body: linked } = await call(generate, { body: body() });
      expect(status).toBe(200);
      await openImage(linked.data[0].url);
      const request = {
        body: body({ response_format: 'b64_json' }),
        headers: { 'idempotency-key': 'bundle-7' },
      };
      const made = await call(generate, request);
      expect(Buffer.from(made.body.data[0].b64_json, 'base64').subarray(1, 4).toString()).toBe('PNG');
      const again = await call(generate, request);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.body).toEqual(made.body);
      const adapted = await call(generate, { body: body({ model: world().deployed.adaptedIdentityId }) });
      expect(adapted.status).toBe(200);
    });

    test('a failed request frees its idempotency key, and is an error of theirs with our status and code', async () => {
      const headers = { 'idempotency-key': 'bundle-8' };
      const failed = await call(generate, { headers, body: body({ model: 'flint' }) });
      expect(failed).toMatchObject({ status: 500, body: { error: { code: 'GENERATION_FAILED' } } });
      const refused = await call(generate, { key: 'svc_live_x', body: body() });
      expect(refused).toMatchObject({ status: 401, body: { error: { code: 'INVALID_API_KEY' } } });
    });

    test('models are listed, and found by id and by slug', async () => {
      const { body: list } = await call('list-openai-models', {});
      const { aurora } = world().service.ready.identities;
      const model = list.data.find(({ id }: any) => id === aurora);
      for (const name of ['aurora', aurora!]) {
        const found = await call('get-openai-model', { parameters: { model: name } });
        expect(found).toMatchObject({ status: 200, body: model });
      }
    });
  });
}
