import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { pointSdkAt } from '../../../local/environment.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { readBody } from '../../../local/http/read-body.ts';
import { objectStore, type ObjectStore } from '../../../shared/images/object-store.ts';
import { previewRole } from '../../../shared/images/preview-role.ts';
import { systemClock } from '../../../shared/base/clock.ts';
import { linkCredentialsStore } from '../../../shared/images/link-credentials-store.ts';
import { previewCredentials } from '../../../shared/images/preview-credentials.ts';
import { itemKeys, ttlAttribute } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { hungUp } from '../generations/table.ts';
import { useTable } from '../generations/use-engines.ts';

const roleArn = 'arn:aws:iam::123456789012:role/previews';
const of = { licenseId: 'lic_1', requestId: 'r' };
const image = { ...of, outputFormat: 'png' } as const;

const fixture = useTable();
/** Issues other credentials each time, as AWS's token service does. */
let tokens: RunningServer;
let status = 200;
let asked: { authorization: string; body: string }[] = [];
let faults: unknown[] = [];
let quarterMs = Date.UTC(2026, 10, 24);

beforeAll(async () => {
  tokens = await listen(
    createServer(async (req, res) => {
      const body = (await readBody(req, 10_000))!.toString();
      const number = asked.push({ authorization: req.headers.authorization!, body });
      res.writeHead(status, { 'content-type': 'text/xml' });
      res.end(
        status === 200
          ? `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA${number}</AccessKeyId>` +
              `<SecretAccessKey>s/${number}</SecretAccessKey><SessionToken>t+${number}=</SessionToken>` +
              '</Credentials></AssumeRoleResult></AssumeRoleResponse>'
          : '<ErrorResponse/>',
      );
    }),
  );
});

afterAll(() => tokens.close());

beforeEach(() => {
  [status, asked, faults] = [200, [], []];
  quarterMs += 15 * 60_000;
});

/** A process with credentials of its own. */
async function storeOf(accessKeyId: string, stsUrl = tokens.url): Promise<ObjectStore> {
  const { table, dynamoDbUrl } = fixture;
  const own = { accessKeyId, secretAccessKey: `secret of ${accessKeyId}` };
  pointSdkAt({ region: 'us-east-1', ...own, dynamoDbUrl, s3Url: tokens.url });
  const onFault = (error: unknown) => void faults.push(error);
  const role = previewRole(roleArn, stsUrl);
  const credentials = previewCredentials({ role, stored: linkCredentialsStore(table), onFault });
  const clock = { ...systemClock, now: () => quarterMs };
  const store = objectStore('images', { clock, previewCredentials: credentials });
  // A client reads its credentials when it first needs them.
  await store.outputLink(image, 0);
  return store;
}

const parameter = (link: string, name: string) => new URL(link).searchParams.get(name)!;

test('two processes sign the same link, with credentials of the role: new ones in the next quarter of an hour', async () => {
  const [one, other] = [await storeOf('AKIDONE'), await storeOf('AKIDOTHER')];
  const link = await one.previewLink(of, 0);

  expect(await other.previewLink(of, 0)).toBe(link);
  expect(parameter(link, 'X-Amz-Credential')).toMatch(/^ASIA1\//);
  expect(parameter(link, 'X-Amz-Security-Token')).toBe('t+1=');
  // What is no preview is signed as ever.
  const outputs = await Promise.all([one, other].map((store) => store.outputLink(image, 0)));
  expect(outputs.map((output) => parameter(output, 'X-Amz-Credential').split('/')[0])).toEqual([
    'AKIDONE',
    'AKIDOTHER',
  ]);
  quarterMs += 15 * 60_000;
  const next = await one.previewLink(of, 0);
  expect(await other.previewLink(of, 0)).toBe(next);
  expect(parameter(next, 'X-Amz-Credential')).toMatch(/^ASIA2\//);
});

test('the role is asked for once in a quarter of an hour, for an hour', async () => {
  const store = await storeOf('AKIDONE');
  await Promise.all(Array.from({ length: 24 }, (_, i) => store.previewLink(of, i)));
  await (await storeOf('AKIDOTHER')).previewLink(of, 0);

  expect(asked).toHaveLength(1);
  expect(asked[0]!.authorization).toMatch(/Credential=AKIDONE\/\d{8}\/us-east-1\/sts\/aws4_request/);
  expect(Object.fromEntries(new URLSearchParams(asked[0]!.body))).toEqual({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'previews',
    DurationSeconds: '3600',
  });
});

test('of processes that ask at once, the first one to store its credentials counts', async () => {
  const stores: ObjectStore[] = [];
  for (let i = 0; i < 8; i++) stores.push(await storeOf(`AKID${i}`));
  const links = await Promise.all(stores.map((store) => store.previewLink(of, 0)));

  expect(new Set(links).size).toBe(1);
  expect(asked.length).toBeGreaterThan(1);
  expect(faults).toEqual([]);
});

test('the table keeps them for two hours, and a table that is away is a fault, not another process', async () => {
  const stored = linkCredentialsStore(fixture.table);
  const credentials = { accessKeyId: 'ASIA1', secretAccessKey: 's', sessionToken: 't' };
  expect(await stored.insert(quarterMs, credentials)).toEqual(credentials);
  expect(await stored.insert(quarterMs, { ...credentials, accessKeyId: 'ASIA2' })).toEqual(credentials);
  const item = await getItem(fixture.table, itemKeys.linkCredentials(quarterMs));
  expect(item![ttlAttribute]).toBe(quarterMs / 1000 + 7200);
  fixture.state.before = () => hungUp();
  await expect(stored.insert(quarterMs, credentials)).rejects.toThrow('socket hang up');
});

test.each([
  ['refuses', () => void (status = 403), () => tokens.url],
  ['is not there', () => {}, () => 'http://127.0.0.1:9'],
])('where the token service %s, a process signs with its own credentials', async (_what, begin, url) => {
  begin();
  const store = await storeOf('AKIDONE', url());
  const links = await Promise.all([0, 1].map((i) => store.previewLink(of, i)));

  for (const link of links) expect(parameter(link, 'X-Amz-Credential')).toMatch(/^AKIDONE\//);
  // It is asked once more in the next quarter, not for each link.
  expect(faults).toHaveLength(1);
});
