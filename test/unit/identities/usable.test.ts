import { expect, test } from '@jest/globals';
import type { Identity } from '../../../shared/identities/identity.ts';
import { agentIdentities, identityAnswers, usableIdentities } from '../../../shared/identities/usable.ts';
import { identity, license } from '../generations/fixture.ts';

/** About a kilobyte each, as a link with a session token has. */
const link = (name: string) => `https://bucket.example/${name}?X-Amz-Security-Token=${'x'.repeat(1000)}`;
const objects = {
  sampleLinks: (identityId: string, sampleId: string) =>
    Promise.resolve({ url: link(`${identityId}/${sampleId}`), thumbnailUrl: link(sampleId) }),
};

/** Each has as many samples as an identity may have, with prompts of the most bytes. */
function catalog(count: number): Identity[] {
  const samples = Array.from({ length: 8 }, (_, at) => {
    return { sampleId: `s${at}`, widthPx: 1024, heightPx: 768, prompt: '\u{1F5BC}'.repeat(500) };
  });
  return Array.from({ length: count }, (_, at) => ({ ...identity, identityId: `idn_${at}`, samples }));
}

test.each([
  [125, 8],
  [126, 7],
  [1000, 1],
  [1001, 0],
])('of %d identities, each shows its first %d samples', async (identities, samples) => {
  const answer = await identityAnswers(catalog(identities), objects);
  expect(answer.identities).toHaveLength(identities);
  const first = Array.from({ length: samples }, (_, at) => link(`s${at}`));
  for (const shown of answer.identities) {
    expect(shown.samples.map(({ thumbnailUrl }) => thumbnailUrl)).toEqual(first);
  }
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(6 * 1024 * 1024);
});

test('those of any license are usable, and callers and agents see the same of each', async () => {
  const own = { ...identity, identityId: 'idn_own', catalog: 'specialist', model: null } as const;
  const other = { ...own, identityId: 'idn_other' };
  const catalogOf = { get: () => Promise.resolve(null), list: () => Promise.resolve([identity, own, other]) };
  const specialist = { ...license, foundingCatalog: false, identityIds: ['idn_own'] };
  const licenses = [specialist, { ...license, foundingCatalog: true, identityIds: [] }];
  const usable = await usableIdentities(licenses, catalogOf);
  expect(usable).toEqual([identity, own]);
  const { identityId: id, name, slug, description, productPhotos } = identity;
  const ofVersion = {
    triggerWords: [],
    defaultSize: { width: 1024, height: 1024 },
    license: null,
    source: null,
  };
  const facts = { id, name, slug, description, productPhotos, available: true, version: 1, ...ofVersion };
  const both = [facts, { ...facts, id: 'idn_own', available: false, version: null }];
  expect(agentIdentities(usable)).toEqual({ identities: both });
  const shown = await identityAnswers(usable, objects);
  expect(shown.identities).toEqual(both.map((one) => ({ ...one, samples: [] })));
  const [{ samples }] = (await identityAnswers(catalog(1), objects)).identities as [any];
  const prompt = '\u{1F5BC}'.repeat(500);
  expect(samples[1]).toEqual({
    url: link('idn_0/s1'),
    thumbnailUrl: link('s1'),
    width: 1024,
    height: 768,
    prompt,
  });
});
