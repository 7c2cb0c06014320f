import { expect, test } from '@jest/globals';
import { routes } from '../../shared/routes.ts';
import { grant } from '../support/grants.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { path } = routes.createOpenAiImage;

test('what SDKs send by habit is taken, told where it had no effect, and answered with links and images', async () => {
  const { key } = await grant(service.table);
  const habit = {
    model: 'gpt-image-1',
    prompt: 'x',
    size: '512x512',
    quality: 'high',
    background: 'auto',
    moderation: 'low',
    user: 'u',
  };
  const { status, headers, body } = await service.api({ path, key, body: habit });
  expect([status, headers.get('x-ignored-parameters')]).toEqual([
    200,
    'user, quality, background, moderation',
  ]);
  const file = Buffer.from(await (await fetch(body.data[0].url)).arrayBuffer()).toString('base64');
  expect(body.data).toEqual([{ url: body.data[0].url, b64_json: file }]);
  const { body: record } = await service.api({ path: `/generate/${headers.get('x-request-id')}`, key });
  expect(record.identity.slug).toBe('aurora');
  expect((await service.api({ path: '/openai/v1/models/gpt-image-1', key })).body.id).toBe(
    service.ready.identities.aurora,
  );
});
