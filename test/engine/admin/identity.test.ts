import { expect, test } from '@jest/globals';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { plainVersion } from '../../../shared/identities/version.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
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
    formerSlugs: [],
    withdrawn: null,
    available: true,
    lastVersion: 1,
    model: { ...plainVersion, createdAtMs: expect.any(Number) },
  });
  const full = await fixture.json(
    `${make('aurora', 'specialist')} --product-photos ` +
      `--trigger qx7 --size 768x512 --no-negative-prompt ` +
      '--settings {"strength":0.8} --template',
    '{prompt}, in the manner of qx7',
  );
  expect(full).toMatchObject({
    id: 'aurora',
    catalog: 'specialist',
    productPhotos: true,
    model: {
      settings: { strength: 0.8 },
      words: {
        triggerWords: ['qx7'],
        promptTemplate: '{prompt}, in the manner of qx7',
        negativePrompt: null,
        sizePx: { width: 768, height: 512 },
      },
    },
  });
  expect(await fixture.json('identity show aurora')).toEqual(full);
  expect(await fixture.json('identity list')).toEqual({ identities: [full, plain] });
});

test('what would change a picture makes a version, and each can be activated again, but for a retired one', async () => {
  await fixture.json(make('drift'));
  await fixture.json('identity put --id drift --description Dunes.');
  const { model } = await fixture.json('identity put --id drift --settings {"a":1} --note Second');
  expect(model).toMatchObject({ number: 2, settings: { a: 1 }, note: 'Second' });
  const { versions } = await fixture.json('identity versions drift');
  expect(versions).toMatchObject([model, { number: 1, settings: {} }]);

  const back = await fixture.json('identity activate drift 1 --no-wait');
  expect(back).toMatchObject({
    model: { number: 1 },
    lastVersion: 2,
    missingRights: ['licence', 'source', 'consent'],
  });
  const consent = `--consent-sha256 ${'0a'.repeat(32)} --consent-date 2026-11-01`;
  expect(await fixture.refused(1, 'identity activate drift 2 --require-rights --no-wait')).toContain(
    'Version 2 has no licence, source, consent',
  );
  await fixture.json(`identity rights drift 2 --rights CC-BY-4.0 --source studio ${consent}`);
  expect(await fixture.json('identity activate drift 2 --require-rights --no-wait')).toMatchObject({
    model: { ...model, rights: { license: 'CC-BY-4.0' } },
    missingRights: [],
  });

  expect(await fixture.refused(1, 'identity retire drift 2 --yes --no-wait')).toContain('is the active one');
  expect(await fixture.refused(1, 'identity retire drift 1')).toContain('add --yes');
  await fixture.json('identity retire drift 1 --on 2027-01-31 --yes --no-wait');
  expect(await fixture.refused(1, 'identity activate drift 1 --no-wait')).toContain('retires on 2027-01-31');
  await fixture.json('identity retire drift 1 --on never --no-wait');
  expect(await fixture.json('identity activate drift 1 --no-wait')).toMatchObject({ model: { number: 1 } });
  const { entries } = await fixture.json('audit --identities');
  const noted = entries.flatMap(({ changes }: any) => changes.map(({ member }: any) => member));
  expect(noted).toEqual(
    expect.arrayContaining(['version1RetiresAt', 'version2License', 'version2ConsentSha256']),
  );
  expect(await fixture.refused(1, 'identity activate drift 3')).toContain('drift has no version 3');
  expect(await fixture.refused(1, 'identity retire drift 3 --scan --yes')).toContain('has no version 3');
  expect(await fixture.refused(2, 'identity rights drift 1')).toContain('Give at least one of --rights');
  await fixture.json('identity retire drift 2 --on 2026-01-31 --yes --no-wait');
  const { stdout: list } = await fixture.admin('identity versions drift');
  expect(list).toContain('retired 2026-01-31');
  const { stdout: third } = await fixture.admin('identity put --id drift --note Third');
  expect(third).toContain('nothing says its licence, source, consent: admin identity rights drift 3');
  expect(third).toContain('Version 3 has no samples: admin identity samples drift');
});

test('a deactivated identity keeps its versions', async () => {
  const made = await fixture.json(make('ember'));
  expect(await fixture.refused(1, 'identity deactivate ember')).toContain('add --yes to deactivate');
  expect(await fixture.json('identity show ember')).toEqual(made);
  const inactive = { ...made, available: false, model: null };
  expect(await fixture.json('identity deactivate ember --yes --no-wait')).toEqual(inactive);
  expect(await fixture.json('identity deactivate ember')).toEqual(inactive);
  expect(await fixture.json('identity activate ember 1 --no-wait')).toMatchObject(made);
});

test('an identity that was there before versions were has its model as version 1', async () => {
  const old = { name: 'old', slug: 'old', description: '', catalog: 'founding', productPhotos: false };
  const model = { version: '7', adapterKey: 'adapters/old', settings: { a: 1 } };
  const Item = { ...itemKeys.identity('old'), identityId: 'old', ...old, model };
  await fixture.table.documents.send(new PutCommand({ TableName: fixture.table.name, Item }));
  const first = { ...plainVersion, adapterKey: 'adapters/old', settings: { a: 1 } };
  const before = await fixture.json('identity versions old');
  expect(before.versions).toMatchObject([first]);
  await fixture.json('identity put --id old --settings {"a":2}');
  const { versions } = await fixture.json('identity versions old');
  expect(versions).toMatchObject([{ number: 2, settings: { a: 2 } }, first]);
});

test('a withdrawn identity says why to operators, and is as before when it is reinstated', async () => {
  const made = await fixture.json(make('gale'));
  const given = ['identity takedown gale --yes --no-wait --reason', 'No consent.'] as const;
  expect(await fixture.json(...given)).toMatchObject({ withdrawn: { reason: 'No consent.' }, samples: [] });
  expect(await fixture.refused(1, 'identity activate gale 1 --no-wait')).toContain('reinstate it first');
  expect(await fixture.json('identity reinstate gale --no-wait')).toEqual(made);
});

test('of changes at the same moment none is lost', async () => {
  await fixture.json(make('harbor'));
  await Promise.all([
    fixture.json('identity put --id harbor --settings {"a":1}'),
    fixture.json('identity put --id harbor --settings {"a":2}'),
    fixture.json('identity put --id harbor --description Still.'),
  ]);
  const { versions } = await fixture.json('identity versions harbor');
  expect(versions.map(({ number }: { number: number }) => number)).toEqual([3, 2, 1]);
  expect(await fixture.json('identity show harbor')).toMatchObject({ description: 'Still.', lastVersion: 3 });
});

test('two identities never share a slug', async () => {
  await fixture.json(make('flint'));
  expect(await fixture.refused(1, make('flint').replace('--id flint', '--id other'))).toContain(
    'The slug flint belongs to flint',
  );
});
