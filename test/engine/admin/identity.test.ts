import { expect, test } from '@jest/globals';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();

/** The words that make an identity whose id and slug are its name. */
const make = (name: string, catalog = 'founding') =>
  `identity put --id ${name} --name ${name} --slug ${name} --description ${name} --catalog ${catalog}`;

test('an identity is made with a model, and shown as it was made', async () => {
  const plain = await fixture.json(
    'identity put --name Basalt --slug basalt --catalog founding --description',
    'Dark stone, hard light.',
  );
  expect(plain).toEqual({
    id: expect.stringMatching(/^idn_/),
    identityId: plain.id,
    name: 'Basalt',
    slug: 'basalt',
    description: 'Dark stone, hard light.',
    catalog: 'founding',
    productPhotos: false,
    samples: [],
    available: true,
    model: { version: '1', adapterKey: null, adapterSha256: null, settings: {} },
  });
  const full = await fixture.json(
    `${make('aurora', 'specialist')} --product-photos --model-version 7 --settings {"strength":0.8}`,
  );
  expect(full).toMatchObject({
    id: 'aurora',
    catalog: 'specialist',
    productPhotos: true,
    model: {
      version: '7',
      settings: { strength: 0.8 },
    },
  });
  expect(await fixture.json('identity show aurora')).toEqual(full);
  expect(await fixture.json('identity list')).toEqual({ identities: [full, plain] });
});

test('a deactivated identity has no model, and what it had is shown', async () => {
  const made = await fixture.json(make('drift'));
  expect(await fixture.refused(1, 'identity deactivate drift')).toContain(
    'add --yes to deactivate the identity drift',
  );
  expect(await fixture.json('identity show drift')).toEqual(made);

  const inactive = { ...made, available: false, model: null };
  expect(await fixture.json('identity deactivate drift --yes')).toEqual({
    ...inactive,
    previousModel: made.model,
  });
  expect(await fixture.json('identity deactivate drift')).toEqual(inactive);
  // A put keeps what is not given.
  expect(await fixture.json('identity put --id drift --model-version 1')).toEqual(made);
});

test('two identities never share a slug', async () => {
  await fixture.json(make('flint'));
  expect(await fixture.refused(1, make('flint').replace('--id flint', '--id other'))).toContain(
    'The slug flint belongs to flint',
  );
});
