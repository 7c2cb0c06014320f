import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { startCloudFormation } from '../../support/smoke.ts';
import { poolId, userPoolsApiOf } from '../../../local/cognito/user-pool.ts';
import { ada, usePool } from '../local/cognito/support.ts';
import { runHere, spawnAdmin, useAdmin } from './fixture.ts';

const fixture = useAdmin();
const pool = usePool();

const noKey = `key_${'0'.repeat(32)}`;
const noLicense = [
  'license show lic_none',
  'license change lic_none --tier pro',
  'license end lic_none --yes',
  'license suspend lic_none --reason x --yes',
  'license resume lic_none',
  'key issue lic_none --name app',
  'key list lic_none',
  'usage lic_none',
  'audit lic_none',
  'generation list lic_none',
  'generation show lic_none 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
  'generation delete --yes lic_none 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
];

test('with --json nothing but one JSON object is on stdout, wherever it is said', async () => {
  for (const words of ['--json license list', 'license --json list', 'license list --json']) {
    const { code, stdout, stderr } = await fixture.admin(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ licenses: [] });
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  }
});

test.each([
  ['lisense list', "unknown command 'lisense' (did you mean license?)"],
  ['license list --ownr x', "unknown option '--ownr' (did you mean --owner?)"],
  ['license grant --owner x --tier gold', '--tier must be one of starter, standard, pro, enterprise'],
  ['license change lic_1', 'Nothing to change'],
  ['license change lic_1 --new-credits --credits 1', '--new-credits needs --anchor.'],
  ['key issue lic_1', "required option '--name <name>' not specified"],
  [`key change ${noKey}`, 'Nothing to change'],
  ['identity put --id x --no-model --settings {}', "'--no-model' cannot be used with"],
  ['identity put --id x --no-samples --sample a.png', 'exclude each other'],
  ['identity put --id x --sample a.png --sample b.png --sample-prompt one', 'for each --sample'],
  ['identity put --id x --sample-prompt one', 'one --sample-prompt for each --sample'],
  [`identity put --id x${' --sample a.png'.repeat(10)}`, 'at most 9 samples'],
  ['license list --table a --stack b', 'cannot be used with'],
  ['audit', 'Name a license or give --identities'],
  ['audit lic_1 --identities', 'Name a license or give --identities'],
  ['generation list', 'Name a license or give --owner'],
  ['generation list lic_1 --owner x', 'Name a license or give --owner'],
])('a mistake is one sentence and exit code 2: %s', async (words, sentence) => {
  const stderr = await fixture.refused(2, words, '--json');
  expect(stderr).toMatch(/^error: .*\n$/);
  expect(stderr).toContain(sentence);
});

test.each([
  ...noLicense.map((words) => [words, 'There is no license lic_none.']),
  ['identity show nobody', 'There is no identity nobody'],
  ['identity deactivate nobody --yes', 'There is no identity nobody'],
  ['identity put --id nobody --name x', 'There is no identity nobody'],
  [`key revoke ${noKey} --yes`, `There is no key ${noKey}.`],
])('what is not there is named, and nothing is made: %s', async (words, sentence) => {
  expect(await fixture.refused(1, words)).toContain(`error: ${sentence}`);
});

test('help is there for everything, and is no mistake', async () => {
  const help = await Promise.all([runHere(['key', '--help']), runHere(['license', 'grant', '--help'])]);
  expect(help).toMatchObject([
    {
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Examples:\n  npm run --silent admin -- key issue'),
    },
    { code: 0, stderr: '', stdout: expect.stringContaining('--active-until <time>') },
  ]);
  const nothing = await spawnAdmin(['key']);
  expect(nothing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: admin key') });
});

describe('there is no local service where', () => {
  const folder = temporaryFolder();
  afterAll(() => removeFolder(folder));
  const killed = () => JSON.stringify({ ...fixture.engines, dynamoDbUrl: 'http://127.0.0.1:1' });

  test.each([
    ['none ever ran', null, 'error: No local service runs on '],
    ['it was killed and left its address behind', killed, 'error: No local service runs on '],
    ['its address is damaged', () => '{"region":', 'is damaged'],
  ])('%s', async (_, address, sentence) => {
    if (address) writeFileSync(join(folder, 'engines.json'), address());
    const run = await spawnAdmin(['--data', folder, 'sweep']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(sentence) });
  });
});

describe('on AWS', () => {
  /** The environment of an operator, with AWS's addresses played by this machine. */
  const aws = () => ({
    AWS_ACCESS_KEY_ID: 'AKIDTEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL_DYNAMODB: fixture.engines.dynamoDbUrl,
  });

  test('the table comes from the flag or the environment, never from a local service', async () => {
    const { name } = fixture.table;
    const inRegion = { ...aws(), AWS_REGION: 'eu-west-1' };
    const runs = await Promise.all([
      spawnAdmin(['license', 'list', '--table', name, '--region', 'eu-west-1'], aws()),
      spawnAdmin(['license', 'list'], { ...inRegion, TABLE_NAME: name }),
      spawnAdmin(['license', 'list', '--table', 'no-such-table', '--data', fixture.folder], inRegion),
      spawnAdmin(['license', 'list', '--table', name], aws()),
    ]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 1, 1]);
    expect(runs[2]!.stderr).toBe('error: There is no such table: the table no-such-table in eu-west-1.\n');
    expect(runs[3]!.stderr).toBe('error: No AWS region is known: name one with --region or AWS_REGION.\n');
  });

  test('a stack names its table, its bucket and its user pool by its outputs', async () => {
    const outputs = { TableName: fixture.table.name, BucketName: 'bucket', UserPoolId: poolId };
    const [service, bare] = [await startCloudFormation(outputs), await startCloudFormation({})];
    const { credentials } = pool.options.apiSigning;
    const list = ({ url }: { url: string }, stack: string) =>
      spawnAdmin(['license', 'list', '--json', '--stack', stack, '--region', 'eu-west-1'], {
        ...aws(),
        AWS_ENDPOINT_URL_CLOUDFORMATION: url,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: userPoolsApiOf(pool.baseUrl),
      });
    const license = await fixture.license({ ownerId: ada.sub });
    const runs = await Promise.all([list(service, 'any'), list(bare, 'bare'), list(service, 'missing')]);
    await Promise.all([service.close(), bare.close()]);
    const refusal = (sentence: string) => ({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(sentence),
    });
    expect(runs).toMatchObject([
      { code: 0, stderr: '' },
      refusal('no output TableName, BucketName, UserPoolId'),
      refusal('no stack missing'),
    ]);
    const { licenseId } = license;
    expect(JSON.parse(runs[0]!.stdout).licenses).toMatchObject([{ licenseId, ownerEmail: ada.email }]);
  });
});
