import { expect, test } from '@jest/globals';
import { newId } from '../../shared/base/ids.ts';
import { plainIdentity, type Identity } from '../../shared/identities/identity.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { activeVersion, noWords, plainVersion, type StoredVersion } from '../../shared/identities/version.ts';
import { newAccount, table } from './fixture.ts';

const catalog = identityStore(table);
const styles = ['aurora', 'basalt', 'citrine'];

/** A specialist identity with a version of each style, of which the second is active. Functions have not seen it yet. */
async function newIdentity(
  changes: Partial<Identity> = {},
  ofVersion: (version: StoredVersion) => Partial<StoredVersion> = () => ({}),
): Promise<Identity> {
  const identityId = newId('identity');
  const slug = identityId.slice(4).toLowerCase();
  const versions = styles.map((style, i) => {
    const model = { ...plainVersion, number: i + 1, settings: { style } };
    const version = activeVersion({ samples: [], model })!;
    return { ...version, ...ofVersion(version) };
  });
  const { samples: _, retiresAtMs: _at, ...model } = versions[1]!;
  const facts = { identityId, name: `Studio ${slug}`, slug };
  const identity = { ...plainIdentity, ...facts, model, lastVersion: 3, ...changes };
  return catalog.change(identityId, () => ({ identity, versions }));
}

/** An account that may use it. Others' tests list the founding catalog, so it is not in that. */
const accountFor = ({ identityId }: Identity) => newAccount({ identityIds: [identityId] });

const digestOf = async (url: string) =>
  Buffer.from(await crypto.subtle.digest('SHA-256', await (await fetch(url)).arrayBuffer())).toString('hex');

test('a request gets the active version or the one that it pins, and its answer, record and picture tell which', async () => {
  const identity = await newIdentity();
  const account = await accountFor(identity);
  const { identityId, slug } = identity;
  const made = async (body: object) => {
    const { status, body: answer } = await account.generate({ seed: 7, ...body });
    expect(status).toBe(200);
    const stored = await account.stored(answer.requestId);
    expect(stored.identityVersion).toBe(answer.identityVersion);
    return { version: answer.identityVersion, digest: await digestOf(answer.outputs[0]) };
  };
  const active = await made({ identityId });
  expect(active.version).toBe(2);
  expect(await made({ identityId: slug })).toEqual(active);
  expect(await made({ identityId, identityVersion: 2 })).toEqual(active);
  const first = await made({ identityId: slug, identityVersion: 1 });
  expect(first.version).toBe(1);
  expect(first.digest).not.toBe(active.digest);
  expect(await made({ identityId, identityVersion: 1 })).toEqual(first);
});

test('a request that waits for its worker gets the version with which it was accepted, also when it was retired since', async () => {
  const identity = await newIdentity();
  const account = await accountFor(identity);
  const { identityId } = identity;
  const headers = { prefer: 'respond-async' };
  const { status, body } = await account.generate({ identityId, identityVersion: 3 }, headers);
  expect(status).toBe(202);
  const version = (await catalog.version(identityId, 3))!;
  await catalog.change(identityId, (before) => ({
    identity: before!,
    versions: [{ ...version, retiresAtMs: 1 }],
  }));
  const { body: ended } = await account.byKey(`/generate/${body.requestId}`, {
    headers: { prefer: 'wait=20' },
  });
  for (let i = 0; i < 100 && (await account.stored(body.requestId)).status !== 'COMPLETED'; i++)
    await new Promise((resolve) => void setTimeout(resolve, 100));
  expect(await account.stored(body.requestId)).toMatchObject({ status: 'COMPLETED', identityVersion: 3 });
  expect(ended.identityVersion).toBe(3);
});

test.each<[string, Partial<Identity>, object, number, string, string]>([
  [
    'unknown',
    {},
    { identityVersion: 9 },
    400,
    'INVALID_PARAMETERS',
    'has no version 9: leave it out for version 2, the active one',
  ],
  [
    'retired',
    {},
    { identityVersion: 1 },
    400,
    'INVALID_PARAMETERS',
    'was retired on 1970-01-01: leave it out for version 2',
  ],
  [
    'no number',
    {},
    { identityVersion: '1' },
    400,
    'INVALID_PARAMETERS',
    'identityVersion must be an integer',
  ],
  [
    'pinned without an active one',
    { model: null },
    { identityVersion: 3 },
    503,
    'IDENTITY_UNAVAILABLE',
    'no active model',
  ],
  [
    'withdrawn',
    { withdrawn: { atMs: 1, reason: 'secret', version: null } },
    {},
    404,
    'IDENTITY_NOT_FOUND',
    'was withdrawn',
  ],
])(
  'what is %s is refused in a sentence that says what to do',
  async (_what, changes, body, status, code, words) => {
    const stranger = await newAccount({ foundingCatalog: false, identityIds: ['idn_other'] });
    const retired = ({ number }: StoredVersion) => (number === 1 ? { retiresAtMs: 1 } : {});
    const identity = await newIdentity(changes, retired);
    const account = await accountFor(identity);
    const { identityId } = identity;
    const { body: refusal, ...answer } = await account.generate({ identityId, ...body });
    expect([answer.status, refusal.code]).toEqual([status, code]);
    expect(refusal.error).toContain(words);
    expect(refusal.error).not.toContain('secret');
    await account.expectCharged(0);
    if (code !== 'IDENTITY_NOT_FOUND') return;
    // Everybody reads the same, and nobody is told of it.
    expect((await stranger.generate({ identityId })).body.error).toBe(refusal.error);
    const { body: listed } = await account.byKey('/identities');
    expect(JSON.stringify(listed)).not.toContain(identityId);
  },
);

test("an identity's own words reach the model alone: the record tells them to its owner, and a caller's come first", async () => {
  const words = {
    ...noWords,
    promptTemplate: '{prompt}, in the manner of $& qx7',
    negativePrompt: 'blur',
    sizePx: { width: 512, height: 768 },
  };
  const identity = await newIdentity({}, () => ({ words }));
  const account = await accountFor(identity);
  const { identityId } = identity;
  const { body } = await account.byKey('/generate', { body: { identityId, prompt: "a $' calm lake" } });
  expect(await account.stored(body.requestId)).toMatchObject({
    prompt: "a $' calm lake",
    effectivePrompt: "a $' calm lake, in the manner of $& qx7",
    negativePrompt: 'blur',
    width: 512,
    height: 768,
  });
  const own = { identityId, prompt: 'a lake', negativePrompt: '', height: 512 };
  const { body: second } = await account.byKey('/generate', { body: own });
  expect(await account.stored(second.requestId)).toMatchObject({
    negativePrompt: '',
    width: 1024,
    height: 512,
  });
});

test('a former slug keeps naming its identity, and no other gets it', async () => {
  const identity = await newIdentity();
  const account = await accountFor(identity);
  const { identityId, slug } = identity;
  const renamed = (slugNow: string) => ({ slug: slugNow, formerSlugs: [slug] });
  await catalog.change(identityId, (before) => ({ identity: { ...before!, ...renamed(`${slug}-two`) } }));
  for (const name of [slug, `${slug}-two`])
    expect((await account.generate({ identityId: name })).body.identity.id).toBe(identityId);
  // Whichever slug it had at the time.
  for (const name of [slug, `${slug}-two`, identityId])
    expect((await account.byKey(`/generate?identityId=${name}`)).body.generations).toHaveLength(2);
  await expect(newIdentity({ slug })).rejects.toThrow('belongs to another identity');
});
