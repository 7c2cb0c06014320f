import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeJson } from '../../../local/data-folder.ts';
import { openWorld, runAdmin, tableName, type World } from './world.ts';

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

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

test('people get aligned tables and labels', async () => {
  const granted = await world.admin('license grant --owner reader --tier pro');
  expect(granted.stdout).toMatch(/^License +lic_\w+\nOwner +reader\nTier +Pro\nCredits +4000 a month\n/);
  const list = await world.admin('license list --owner reader');
  const [headings = '', row = ''] = list.stdout.split('\n');
  expect(row.indexOf('reader')).toBe(headings.indexOf('OWNER'));
  const empty = await world.admin('license list --owner nobody');
  expect(empty.stdout).toBe('There are no licenses.\n');
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
    runAdmin(['--help']),
    runAdmin(['key', '--help']),
    runAdmin(['license', 'grant', '--help']),
  ]);
  expect(helps.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    helps.map(() => ({ code: 0, stderr: '' })),
  );
  expect(helps[0]!.stdout).toContain('Examples:\n  npm run --silent admin -- ');
  expect(helps[1]!.stdout).toContain('Examples:\n  npm run --silent admin -- key issue');
  expect(helps[2]!.stdout).toContain('--active-until <time>');
  const nothing = await runAdmin(['key']);
  expect(nothing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: admin key') });
});

describe('where there is no local service', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'admin-none-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const sentence = () => `error: No local service runs on ${folder}: `;

  test('none ever ran', async () => {
    const run = await runAdmin(['--data', folder, 'sweep']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(sentence()) });
  });

  test('it was killed and left its address behind', async () => {
    writeJson(join(folder, 'engines.json'), { ...world.engines, dynamoDbUrl: 'http://127.0.0.1:1' });
    const run = await runAdmin(['--data', folder, 'sweep', '--json']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(sentence()) });
  });

  test('its address is damaged', async () => {
    writeFileSync(join(folder, 'engines.json'), '{"region":');
    const run = await runAdmin(['--data', folder, 'sweep']);
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
      runAdmin(['license', 'list', '--table', tableName, '--region', 'eu-west-1'], aws()),
      runAdmin(['license', 'list'], { ...aws(), ...region, TABLE_NAME: tableName }),
      runAdmin(['license', 'list', '--table', 'no-such-table', '--data', world.folder], {
        ...aws(),
        ...region,
      }),
      runAdmin(['license', 'list', '--table', tableName], aws()),
    ]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 1, 1]);
    expect(runs[2]!.stderr).toBe('error: There is no such table: the table no-such-table in eu-west-1.\n');
    expect(runs[3]!.stderr).toBe('error: No AWS region is known: name one with --region or AWS_REGION.\n');
  });

  describe('by a stack', () => {
    let cloudFormation: Server;
    beforeAll(async () => void (cloudFormation = await startCloudFormation()));
    afterAll(() => void cloudFormation.close());

    test('its output TableName names the table', async () => {
      const { port } = cloudFormation.address() as AddressInfo;
      const env = { ...aws(), AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}` };
      const list = (stack: string) =>
        runAdmin(['license', 'list', '--json', '--stack', stack, '--region', 'eu-west-1'], env);
      const [found, bare, missing] = await Promise.all([list('service'), list('bare'), list('missing')]);
      expect(found).toMatchObject({ code: 0, stderr: '' });
      expect(bare).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('no output TableName'),
      });
      expect(missing).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('no stack missing'),
      });
    });
  });
});

/** DescribeStacks of three stacks: `service` with its table, `bare` without outputs, and none of any other name. */
async function startCloudFormation(): Promise<Server> {
  const outputs = `<Outputs><member><OutputKey>TableName</OutputKey><OutputValue>${tableName}</OutputValue></member></Outputs>`;
  const stack = (inner: string) =>
    `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${inner}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const unknown =
    '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id missing does not exist</Message></Error></ErrorResponse>';
  const server = createServer(async (request, response) => {
    const body = await request.reduce((text: string, chunk: Buffer) => text + chunk.toString(), '');
    const name = new URLSearchParams(body).get('StackName');
    response.writeHead(name === 'missing' ? 400 : 200, { 'content-type': 'text/xml' });
    response.end(name === 'missing' ? unknown : stack(name === 'bare' ? '' : outputs));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
