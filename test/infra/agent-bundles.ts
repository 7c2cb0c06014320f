import { describe, expect, test } from '@jest/globals';
import { headersOf, messageOf, messagesIn } from '../support/agent.ts';
import { allObjects } from '../support/objects.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import type { BundleWorld } from './async-bundles.ts';

export const agent = 'answer-agent';

/** The part of bundles.test.ts about POST /mcp. */
export function agentBundleTests(world: () => BundleWorld): void {
  const identities = () => world().service.ready.identities;
  const byKey = () => ({ key: world().service.ready.keys.standard! });

  async function tool(name: string, sent: object, _meta = {}): Promise<any> {
    const call = { method: 'tools/call', params: { name, arguments: sent, _meta } };
    const options = { ...byKey(), body: messageOf(call), headers: headersOf(call) };
    const { status, body, text } = await world().deployed.call(agent, options);
    expect(status).toBe(200);
    return messagesIn(body ?? text).at(-1).result;
  }

  describe('POST /mcp', () => {
    test('lists, generates with progress, replays, and fetches what it made', async () => {
      const { structuredContent: list } = await tool('list_identities', {});
      expect(list.identities.map(({ name }: any) => name)).toContain('aurora');
      const sent = { ...small, identityId: identities().aurora, idempotencyKey: 'bundle-6' };
      const { structuredContent: made } = await tool('generate', sent, { progressToken: 1 });
      await Promise.all(made.outputs.map(openImage));
      const { requestId } = made;
      expect((await tool('generate', sent)).structuredContent.requestId).toBe(requestId);
      expect((await tool('get_generation', { requestId })).structuredContent.status).toBe('COMPLETED');
      const adapted = { ...small, identityId: world().deployed.adaptedIdentityId };
      expect((await tool('generate', adapted)).isError).toBeUndefined();
    });

    test('uses reference images, and leaves none', async () => {
      const { body: upload } = await world().deployed.call('create-upload', { ...byKey(), body: {} });
      await sendFile(upload, await samplePhoto());
      const photo = { ...small, identityId: identities().citrine };
      const byUpload = { ...photo, referenceImages: [{ uploadId: upload.uploadId }] };
      expect((await tool('generate', byUpload)).structuredContent.referenceImagesUsed).toBe(1);
      const byLink = { ...photo, referenceImages: [{ url: 'https://nobody.invalid/a.png' }] };
      expect((await tool('generate', byLink)).structuredContent.code).toBe('INVALID_PARAMETERS');
      const copies = allObjects(world().service.dataDir).filter(({ key }) => key.startsWith('references/'));
      expect(copies).toEqual([]);
    });

    test('gives back the credits and the idempotency key of what failed', async () => {
      const failing = { ...small, identityId: identities().flint, idempotencyKey: 'bundle-7' };
      for (const _ of [1, 2]) {
        const { isError, structuredContent } = await tool('generate', failing);
        expect([isError, structuredContent.code]).toEqual([true, 'GENERATION_FAILED']);
      }
    });
  });
}
