import { expect } from '@jest/globals';
import { demoIdentities, demoKeys } from '../../local/demo-data.ts';
import { generate } from './requests.ts';
import type { RunningService } from './service.ts';

/** Every key, identity and license of the demo data is there and works as it should. */
export async function expectWholeDemo(service: Pick<RunningService, 'api' | 'ready'>): Promise<void> {
  const { keys, identities } = service.ready;
  expect(Object.keys(keys).sort()).toEqual(Object.keys(demoKeys).sort());
  for (const [name, { state }] of Object.entries(demoKeys)) {
    const answer = await service.api({ path: '/identities', key: keys[name] });
    const accepted = state === 'active' && name !== 'ended';
    expect([name, answer.status]).toEqual([name, accepted ? 200 : 401]);
    if (!accepted) continue;
    const names = Object.keys(demoIdentities).filter((of) => (of === 'drift') === (name === 'specialist'));
    const expected = names.map((slug) => ({ slug, id: identities[slug] }));
    expect(answer.body.identities.map(({ slug, id }: any) => ({ slug, id }))).toEqual(expected);
  }
  const answer = await generate(service, keys['nearly-spent']!, { identityId: identities.aurora });
  expect(answer.body.usage).toMatchObject({ creditsUsed: 499, creditsLimit: 500 });
}
