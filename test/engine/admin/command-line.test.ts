import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { writeJson } from '../../../local/data-folder.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { startCloudFormation } from '../../support/smoke.ts';
import { poolId, userPoolsApiOf } from '../../../local/cognito/user-pool.ts';
import { ada, usePool } from '../local/cognito/support.ts';
import { runHere, spawnAdmin, useAdmin } from './fixture.ts';

const world = useAdmin();
const pool = usePool();

test('with --json nothing but one JSON object is on stdout, wherever it is said', async () => {
  const runs = await Promise.all([
    world.admin('--json license grant --owner owner --tier pro'),
    world.admin('license --json grant --owner owner --tier pro'),
    world.admin('license grant --owner owner --tier pro --json'),
    world.admin('license list --owner nobody --json'),
  ]);
  for (const { code, stdout, stderr } of runs) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(expect.any(Object));
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  }
});

test.each([
  ['lisense list', "unknown command 'lisense' (did you mean license?)"],
  ['license list --ownr x', "unknown option '--ownr' (did you mean --owner?)"],
  ['license grant --owner x --tier gold', '--tier must be one of starter, standard, pro, enterprise'],
  ['license change lic_1', 'Nothing to change'],
  ['key issue lic_1', "required option '--name <name>' not specified"],
  ['identity put --id x --no-model --settings {}', "'--no-model' cannot be used with"],
  ['license list --table a --stack b', 'cannot be used with'],
])('a mistake is one sentence and exit code 2: %s', async (words, sentence) => {
  const { code, stdout, stderr } = await world.admin(words, '--json');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: .*\n$/);
  expect(stderr).toContain(sentence);
});

test('help is there for everything, and is no mistake', async () => {
  const helps = await Promise.all([
    runHere(['--help']),
    runHere(['key', '--help']),
    runHere(['license', 'grant', '--help']),
  ]);
  expect(helps.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    helps.map(() => ({ code: 0, stderr: '' })),
  );
  expect(helps[0]!.stdout).toContain('Examples:\n  npm run --silent admin -- ');
  expect(helps[1]!.stdout).toContain('Examples:\n  npm run --silent admin -- key issue');
  expect(helps[2]!.stdout).toContain('--active-until <time>');
  const nothing = await spawnAdmin(['key']);
  expect(nothing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: admin key') });
});

describe('where there is no local service', () => {
  const folder = temporaryFolder();
  afterAll(() => removeFolder(folder));
  const sentence = () => `error: No local service runs on ${folder}: `;

  test('none ever ran', async () => {
    const run = await runHere(['--data', folder, 'sweep']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(sentence()) });
  });

  test('it was killed and left its address behind', async () => {
    writeJson(join(folder, 'engines.json'), { ...world.engines, dynamoDbUrl: 'http://127.0.0.1:1' });
    const run = await spawnAdmin(['--data', folder, 'sweep', '--json']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(sentence()) });
  });

  test('its address is damaged', async () => {
    writeFileSync(join(folder, 'engines.json'), '{"region":');
    const run = await runHere(['--data', folder, 'sweep']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is damaged') });
  });
});

describe('on AWS', () => {
  /** The environment of an operator, with AWS's addresses played by this machine. */
  const aws = () => ({
    AWS_ACCESS_KEY_ID: 'AKIDTEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL_DYNAMODB: world.engines.dynamoDbUrl,
  });

  test('the table comes from the flag or the environment, never from a local service', async () => {
    const region = { AWS_REGION: 'eu-west-1' };
    const runs = await Promise.all([
      spawnAdmin(['license', 'list', '--table', world.table.name, '--region', 'eu-west-1'], aws()),
      spawnAdmin(['license', 'list'], { ...aws(), ...region, TABLE_NAME: world.table.name }),
      spawnAdmin(['license', 'list', '--table', 'no-such-table', '--data', world.folder], {
        ...aws(),
        ...region,
      }),
      spawnAdmin(['license', 'list', '--table', world.table.name], aws()),
    ]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 1, 1]);
    expect(runs[2]!.stderr).toBe('error: There is no such table: the table no-such-table in eu-west-1.\n');
    expect(runs[3]!.stderr).toBe('error: No AWS region is known: name one with --region or AWS_REGION.\n');
  });

  test('a stack names its table, its bucket and its user pool by its outputs', async () => {
    const [service, bare] = [
      await startCloudFormation({ TableName: world.table.name, BucketName: 'bucket', UserPoolId: poolId }),
      await startCloudFormation({}),
    ];
    const list = ({ url }: { url: string }, stack: string) =>
      spawnAdmin(['license', 'list', '--json', '--stack', stack, '--region', 'eu-west-1'], {
        ...aws(),
        AWS_ENDPOINT_URL_CLOUDFORMATION: url,
        AWS_ACCESS_KEY_ID: pool.options.apiSigning.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: pool.options.apiSigning.credentials.secretAccessKey,
        AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: userPoolsApiOf(pool.baseUrl),
      });
    const license = await world.license({ ownerId: ada.sub });
    const runs = await Promise.all([list(service, 'any'), list(bare, 'bare'), list(service, 'missing')]);
    await Promise.all([service.close(), bare.close()]);
    expect(runs.map(({ code }) => code)).toEqual([0, 1, 1]);
    expect(runs[0]!.stderr).toBe('');
    expect(JSON.parse(runs[0]!.stdout).licenses).toContainEqual(
      expect.objectContaining({ licenseId: license.licenseId, ownerEmail: ada.email }),
    );
    expect(runs[1]).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('no output TableName, BucketName, UserPoolId'),
    });
    expect(runs[2]).toMatchObject({ stdout: '', stderr: expect.stringContaining('no stack missing') });
  });
});
