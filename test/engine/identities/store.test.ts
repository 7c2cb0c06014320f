import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { activeVersion, plainVersion } from '../../../shared/identities/version.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import {
  identityByName,
  identityCatalog,
  identityStore,
  type IdentityCatalog,
  type IdentityStore,
} from '../../../shared/identities/store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { queryAll } from '../../../shared/table/table.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { hungUp } from '../generations/table.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
let identities: IdentityStore;

beforeAll(() => {
  identities = identityStore(fixture.table);
});

const identity = (identityId: string, changes: Partial<Identity> = {}): Identity => ({
  ...sampleIdentity,
  lastVersion: 7,
  identityId,
  name: identityId,
  slug: identityId,
  catalog: 'specialist',
  productPhotos: true,
  model: {
    ...plainVersion,
    number: 7,
    adapterKey: 'adapters/a.safetensors',
    adapterSha256: 'f0'.repeat(32),
    settings: { scale: 0.8 },
  },
  ...changes,
});

async function emptyCatalog(): Promise<void> {
  const { documents, name: TableName } = fixture.table;
  const query = {
    KeyConditionExpression: 'PK = :catalog',
    ExpressionAttributeValues: { ':catalog': 'CATALOG' },
  };
  for (const { PK, SK } of await queryAll(fixture.table, query, (item) => item))
    await documents.send(new DeleteCommand({ TableName, Key: { PK, SK } }));
}

describe('an identity', () => {
  beforeEach(emptyCatalog);

  test.each([
    ['with a model', identity('idn_a')],
    ['without one', identity('idn_b', { model: null, catalog: 'founding', productPhotos: false })],
  ])('%s is read back as it was put', async (_what, one) => {
    await identities.put(one);
    expect(await identities.get(one.identityId)).toEqual(one);
    expect(await identities.list()).toEqual([one]);
  });

  const { model, ...bare } = identity('idn_old');
  const { adapterSha256: _digest, ...withoutDigest } = model!;
  test.each([
    ['it had a model', bare, null],
    ['adapters had digests', { ...bare, model: withoutDigest }, { ...withoutDigest, adapterSha256: null }],
  ])('stored before %s has none', async (_what, older, expected) => {
    const Item = { ...itemKeys.identity('idn_old'), ...older };
    await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item }));
    expect((await identities.get('idn_old'))!.model).toEqual(expected);
  });

  test('stored before there were samples has none', async () => {
    const { samples: _samples, ...older } = bare;
    const Item = { ...itemKeys.identity('idn_old'), ...older };
    await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item }));
    expect((await identities.get('idn_old'))!.samples).toEqual([]);
  });
});

test('a change that another comes between is made of what that left', async () => {
  await identities.put(identity('idn_between'));
  let calls = 0;
  const changed = await identities.change('idn_between', async (found) => {
    calls += 1;
    if (calls === 1) await identities.put({ ...found!, name: 'Another' });
    return { identity: { ...found!, description: 'New.' } };
  });
  expect(changed).toMatchObject({ name: 'Another', description: 'New.' });
  expect(await identities.get('idn_between')).toEqual(changed);
});

test('no number is given twice, though an earlier version of the program forgot which was the last', async () => {
  const one = identity('idn_forgot');
  const versions = [7, 8].map((number) => ({ ...activeVersion(one)!, number }));
  await identities.change('idn_forgot', () => ({ identity: { ...one, lastVersion: 8 }, versions }));
  const { lastVersion: _, ...older } = one;
  const Item = { ...itemKeys.identity('idn_forgot'), ...older };
  await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item }));
  const changed = await identities.change('idn_forgot', (found) => ({ identity: found! }));
  expect(changed.lastVersion).toBe(8);
});

describe('the catalog', () => {
  beforeEach(emptyCatalog);

  test('is listed whole and by name, however many pages it takes, and holds identities only', async () => {
    const settings = { notes: 'x'.repeat(300_000) };
    const all = ['b 10', 'D', 'b 2', 'a', 'é'].map((name, i) =>
      identity(`idn_${i}`, {
        name,
        model: { ...plainVersion, settings },
      }),
    );
    for (const one of all) await identities.put(one);
    const other = { PK: 'CATALOG', SK: 'NOTE#1', name: 'aa' };
    await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item: other }));
    const pages = fixture.count('QueryCommand');
    const listed = await identities.list();
    expect(listed.map(({ name }) => name)).toEqual(['a', 'b 2', 'b 10', 'D', 'é']);
    expect(pages.times).toBeGreaterThan(1);
  });

  test('keeps those of one name together', async () => {
    for (const [i, name] of ['b', 'a', 'b', 'a'].entries())
      await identities.put(identity(`idn_${i}`, { name }));
    const listed = await identities.list();
    expect(listed.map(({ identityId }) => identityId)).toEqual(['idn_1', 'idn_3', 'idn_0', 'idn_2']);
  });
});

describe('the catalog as requests read it', () => {
  let nowMs: number;
  let catalog: IdentityCatalog;
  beforeEach(async () => {
    await emptyCatalog();
    nowMs = Date.UTC(2026, 2, 3);
    catalog = identityCatalog(identities, { now: () => nowMs });
  });

  const [before, after] = [identity('idn_a'), identity('idn_a', { name: 'Another', model: null })];

  test('is read once in ten seconds: an operator’s change holds then, and at once elsewhere', async () => {
    await identities.put(before);
    const reads = fixture.count();
    const read = async () => ({ one: await catalog.get('idn_a'), all: await catalog.list() });
    for (const _ of [1, 2]) expect(await read()).toEqual({ one: before, all: [before] });
    await identities.put(after);
    nowMs += 9999;
    expect(await read()).toEqual({ one: before, all: [before] });
    // Two reads of the catalog; the change reads the identity and writes it.
    expect(reads.times).toBe(4);
    expect(await identityCatalog(identities, { now: () => nowMs }).get('idn_a')).toEqual(after);
    nowMs += 1;
    expect(await read()).toEqual({ one: after, all: [after] });
  });

  test('is read again when the clock went back, and when a read failed', async () => {
    await identities.put(before);
    expect(await catalog.get('idn_a')).toEqual(before);
    await identities.put(after);
    nowMs -= 1;
    fixture.state.before = () => hungUp();
    await expect(catalog.get('idn_a')).rejects.toThrow('socket hang up');
    await expect(catalog.list()).rejects.toThrow('socket hang up');
    fixture.state.before = () => undefined;
    expect(await catalog.get('idn_a')).toEqual(after);
    expect(await catalog.list()).toEqual([after]);
  });

  test('counts its seconds from before the read, whose answer may take long', async () => {
    await identities.put(before);
    fixture.state.after = () => void (nowMs += 10_000);
    expect(await catalog.get('idn_a')).toEqual(before);
    fixture.state.after = () => undefined;
    await identities.put(after);
    expect(await catalog.get('idn_a')).toEqual(after);
  });

  test('does not remember what is not there: a new identity is found at once', async () => {
    expect(await catalog.get('idn_a')).toBeNull();
    await identities.put(before);
    expect(await catalog.get('idn_a')).toEqual(before);
  });
});

test('an identity is found by its id, or else by its slug, which reads the whole catalog', async () => {
  await emptyCatalog();
  const [one, other] = [identity('idn_a', { slug: 'a' }), identity('idn_b', { slug: 'b' })];
  for (const made of [one, other]) await identities.put(made);
  const find = (idOrSlug: string) => identityByName(identities, idOrSlug);
  const lists = fixture.count('QueryCommand');
  expect(await find('idn_b')).toEqual(other);
  expect(lists.times).toBe(0);
  expect([await find('b'), await find('idn_c'), await find('')]).toEqual([other, null, null]);
});
