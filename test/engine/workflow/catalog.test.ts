import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Identity } from '../../../shared/domain/identity.ts';
import { identityStore, type IdentityStore } from '../../../shared/store/identity-store.ts';
import { onceIdOf } from '../../../shared/store/once-store.ts';
import { readForOrder } from '../../../shared/store/order-reads.ts';
import { itemKeys } from '../../../shared/store/table-keys.ts';
import { startTable, type TableWorld } from './table.ts';

let world: TableWorld;
let identities: IdentityStore;

beforeAll(async () => {
  world = await startTable();
  identities = identityStore(world.table);
});

afterAll(() => world.close());

beforeEach(async () => {
  world.mend();
  const { documents, name: TableName } = world.table;
  for (const { identityId } of await identities.list())
    await documents.send(new DeleteCommand({ TableName, Key: itemKeys.identity(identityId) }));
});

const identity = (identityId: string, changes: Partial<Identity> = {}): Identity => ({
  identityId,
  name: identityId,
  slug: `slug-of-${identityId}`,
  description: `what ${identityId} is like`,
  catalog: 'specialist',
  productPhotos: true,
  model: {
    version: '7',
    adapterKey: 'adapters/a.safetensors',
    adapterSha256: 'f0'.repeat(32),
    settings: { scale: 0.8 },
  },
  ...changes,
});

describe('an identity', () => {
  test.each([
    ['with a model', identity('idn_a')],
    ['without one', identity('idn_b', { model: null, catalog: 'founding', productPhotos: false })],
  ])('%s is read back as it was put', async (_what, one) => {
    await identities.put(one);
    expect(await identities.get(one.identityId)).toEqual(one);
    expect(await identities.list()).toEqual([one]);
  });

  test('that is put again is replaced whole', async () => {
    await identities.put(identity('idn_a'));
    const next = identity('idn_a', { name: 'Another', model: null });
    await identities.put(next);
    expect(await identities.list()).toEqual([next]);
  });

  test('that is not there is null', async () => expect(await identities.get('idn_none')).toBeNull());

  test('stored before it had a model has none', async () => {
    const { model: _model, ...older } = identity('idn_old');
    const Item = { ...itemKeys.identity('idn_old'), ...older };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
    expect((await identities.get('idn_old'))!.model).toBeNull();
  });

  test('stored before adapters had digests has none', async () => {
    const { model, ...rest } = identity('idn_older');
    const { adapterSha256: _digest, ...older } = model!;
    const Item = { ...itemKeys.identity('idn_older'), ...rest, model: older };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
    expect((await identities.get('idn_older'))!.model).toEqual({ ...older, adapterSha256: null });
  });
});

describe('the catalog', () => {
  test('is listed whole and by name, however many pages it takes, and holds identities only', async () => {
    const settings = { notes: 'x'.repeat(300_000) };
    const all = ['d', 'b', 'e', 'a', 'c'].map((name, i) =>
      identity(`idn_${i}`, {
        name,
        model: { version: '1', adapterKey: null, adapterSha256: null, settings },
      }),
    );
    for (const one of all) await identities.put(one);
    const other = { PK: 'CATALOG', SK: 'NOTE#1', name: 'aa' };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item: other }));
    let pages = 0;
    world.state.before = (command) => void (pages += command === 'QueryCommand' ? 1 : 0);
    const listed = await identities.list();
    expect(listed.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(pages).toBeGreaterThan(1);
  });

  test('keeps those of one name together', async () => {
    for (const [id, name] of [
      ['1', 'b'],
      ['2', 'a'],
      ['3', 'b'],
      ['4', 'a'],
    ])
      await identities.put(identity(`idn_${id}`, { name: name! }));
    const listed = await identities.list();
    expect(listed.map(({ identityId }) => identityId)).toEqual(['idn_2', 'idn_4', 'idn_1', 'idn_3']);
  });

  test('is read strongly: an identity is there from the very answer that it was put', async () => {
    const seen: unknown[] = [];
    world.state.before = (_command, input) => void seen.push(input);
    await identities.list();
    expect(seen).toMatchObject([{ ConsistentRead: true }]);
  });
});

describe('what a request needs beside its caller', () => {
  const onceId = onceIdOf('a key');
  const expiresAtMs = Date.UTC(2026, 5, 1);
  const once = { requestId: 'r1', bodyHash: 'h1', expiresAtMs };

  beforeEach(async () => {
    await identities.put(identity('idn_a'));
    const Item = { ...itemKeys.once('key_1', onceId), ...once };
    await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
  });

  test.each([
    ['both', 'idn_a', 'key_1', onceId, identity('idn_a'), once],
    ['an identity alone', 'idn_a', 'key_1', null, identity('idn_a'), null],
    ['an idempotency key alone', null, 'key_1', onceId, null, once],
    ['neither', null, 'key_1', null, null, null],
    ['an identity that is not there', 'idn_none', 'key_1', onceId, null, once],
    ['an idempotency key of another caller', 'idn_a', 'key_2', onceId, identity('idn_a'), null],
  ])('is found for %s', async (_what, identityId, callerId, id, foundIdentity, foundOnce) => {
    let reads = 0;
    world.state.before = () => void (reads += 1);
    expect(await readForOrder(world.table, { identityId, callerId, onceId: id })).toEqual({
      identity: foundIdentity,
      once: foundOnce,
    });
    // One strong read, and none where nothing is asked for.
    expect(reads).toBe(identityId === null && id === null ? 0 : 1);
  });
});
