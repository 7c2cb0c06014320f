import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readEngines } from '../../bin/common/connection.ts';
import {
  everything,
  failedIn,
  reported,
  smoke,
  startCloudFormation,
  startFront,
  type FrontAnswer,
} from '../support/smoke.ts';
import { useService } from '../support/use-service.ts';

const service = useService();

const onService = (...args: string[]) => ['--data', service.dataDir, ...args];

/** Neither keys nor links are printed. */
const secrets = /svc_live_\w|X-Amz-|Bearer/;

describe('against the local service', () => {
  test('every check passes, everything that was made is gone again, and no key or link is printed', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout, stderr } = await smoke(onService());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('13 passed, 0 failed, 2 skipped\n');
    expect(stdout).not.toMatch(secrets);
    expect(stdout.match(/^✓ .* \(\d+ ms\)$/gm)).toHaveLength(13);
    expect(await everything(service.dataDir)).toEqual(before);
  });

  test('with --json nothing but one JSON object is on stdout, without keys or links', async () => {
    const { code, stdout, stderr } = await smoke(onService('--json'));
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(secrets);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ passed: true, baseUrl: service.ready.baseUrl });
  });

  test('an identity that is there already is used and left as it was; one without photos is sent none', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout } = await smoke(onService('--identity', service.ready.identities.aurora!));
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('12 passed') });
    expect(await everything(service.dataDir)).toEqual(before);
  });

  test('an image that fails fails its check alone, and nothing of it is left', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout } = await smoke(onService('--json', '--identity', service.ready.identities.flint!));
    expect(code).toBe(1);
    expect(failedIn(stdout)).toEqual(['an image is generated and one credit charged']);
    const { reason } = reported(stdout).get('an image is generated and one credit charged')!;
    expect(reason).toContain('500 GENERATION_FAILED');
    expect(await everything(service.dataDir)).toEqual(before);
  });

  test('Ctrl-C while an image is generated waits for it, checks nothing more and leaves nothing', async () => {
    const before = await everything(service.dataDir);
    const args = onService('--identity', service.ready.identities.harbor!);
    const { code, stdout, stderr } = await smoke(args, { interruptAt: 'the API is up' });
    expect(code).toBe(130);
    expect(stderr).toContain('Stopping after this check');
    expect(stdout).toContain('its link opens: a PNG of the size asked for: skipped, the run was interrupted');
    expect(stdout).toContain('✓ everything made for the checks is removed');
    expect(await everything(service.dataDir)).toEqual(before);
  });
});

describe('one sentence says why nothing can be checked, when', () => {
  test.each([
    [
      'there is no local service',
      () => ['--data', join(tmpdir(), 'no-such-service')],
      1,
      'No local service runs',
    ],
    [
      'there is no such identity',
      () => onService('--identity', 'idn_none'),
      1,
      'There is no identity idn_none',
    ],
    [
      'the identity has no model',
      () => onService('--identity', service.ready.identities.ember!),
      1,
      'no active model',
    ],
    ['a region is named without a stack', () => ['--region', 'eu-west-1'], 2, '--region means AWS'],
    ['a stack and a data folder are named', () => onService('--stack', 'x'), 2, 'cannot be used with'],
  ])('%s', async (_, args, code, sentence) => {
    const run = await smoke(args());
    expect(run).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) });
    expect(run.stderr).toMatch(/^error: .*\n$/);
  });
});

describe('against a stack', () => {
  /** Its outputs lead to the local service, through a front that answers some requests by itself. */
  async function smokeStack(answer: FrontAnswer, outputs: Record<string, string> = {}, stack = 'service') {
    const engines = readEngines(service.dataDir);
    const front = await startFront(answer, new URL(service.ready.baseUrl).origin);
    const cloudFormation = await startCloudFormation({
      BaseUrl: `${front.url}/api/v1`,
      DashboardUrl: `${front.url}/`,
      TableName: engines.tableName,
      BucketName: engines.bucketName,
      UserPoolId: 'us-east-1_Pool',
      SignInUrl: 'https://sign-in.example.test',
      ModelEndpointName: 'model',
      ...outputs,
    });
    const env = {
      AWS_ACCESS_KEY_ID: engines.accessKeyId,
      AWS_SECRET_ACCESS_KEY: engines.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: engines.dynamoDbUrl,
      AWS_ENDPOINT_URL_S3: engines.s3Url,
      AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
    };
    const run = await smoke(['--stack', stack, '--region', engines.region, '--json'], { env });
    await Promise.all([front.close(), cloudFormation.close()]);
    return run;
  }

  /** What only AWS has, so that it fails here. */
  const onlyOnAws = [
    "the dashboard's pages may call the API (CORS preflight)",
    'the dashboard and the user pool agree on where to sign in',
  ];

  test('it is found by its outputs, and each failure has its own sentence and is cleaned up after', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout } = await smokeStack(() => false);
    expect({ code, failed: failedIn(stdout) }).toEqual({ code: 1, failed: onlyOnAws });
    expect(reported(stdout).get(onlyOnAws[1]!)!.reason).toBe('wrong in the answer: apiBaseUrl');
    expect(await everything(service.dataDir)).toEqual(before);
  });

  test.each([
    ["API Gateway's own words", 403, '{"message":"Missing equal-sign"}', 'it answered 403'],
    [
      'more than the API tells',
      404,
      '{"error":"No.","code":"NOT_FOUND","message":"Missing equal-sign"}',
      'unknown in the answer: message',
    ],
  ])('%s at a missing route are found', async (_, status, body, reason) => {
    const { code, stdout } = await smokeStack((req, res) => {
      if (!req.url!.endsWith('/no-such-endpoint') || req.headers.authorization === undefined) return false;
      res.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return true;
    });
    const route = 'a route that is not there answers 404 NOT_FOUND, with a key and without';
    expect({ code, failed: failedIn(stdout) }).toEqual({ code: 1, failed: [route, ...onlyOnAws] });
    expect(reported(stdout).get(route)!.reason).toBe(reason);
  });

  /** Answers as a stack without a model does, refusing a generation with this code. */
  const withoutModel =
    (code: string): FrontAnswer =>
    (req, res) => {
      const isHealth = req.url === '/api/v1/health';
      const isGeneration = req.method === 'POST' && req.headers['idempotency-key'] !== undefined;
      if (!isHealth && !isGeneration) return false;
      res.setHeader('content-type', 'application/json');
      const parts = { status: 'degraded', api: 'up', inference: 'down' };
      if (isHealth) res.end(JSON.stringify({ ...parts, model: 'unavailable', modelReadyInSeconds: null }));
      else res.writeHead(503, { 'retry-after': '5' }).end(JSON.stringify({ error: 'No.', code }));
      return true;
    };
  const noModel = { ModelEndpointName: '(none)' };
  const refusal = 'without a model a generation is refused and nothing is charged or held';

  test('without a model, it must refuse, charge nothing and say that it is degraded', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout } = await smokeStack(withoutModel('SERVICE_UNAVAILABLE'), noModel);
    expect({ code, failed: failedIn(stdout) }).toEqual({ code: 1, failed: onlyOnAws });
    const skipped = [...reported(stdout).values()].filter(({ status }) => status === 'skipped');
    const reasons = ['the stack has no model', ...Array(4).fill('no image was generated')];
    expect(skipped.map(({ reason }) => reason)).toEqual(reasons);
    expect(await everything(service.dataDir)).toEqual(before);
  });

  test('a stack without a model that refuses for another reason is found out', async () => {
    const { stdout } = await smokeStack(withoutModel('IDENTITY_UNAVAILABLE'), noModel);
    expect(failedIn(stdout)).toEqual([refusal, ...onlyOnAws]);
    expect(reported(stdout).get(refusal)!.reason).toBe(
      'POST /generate answered 503 IDENTITY_UNAVAILABLE (No.)',
    );
  });

  test('a stack without a model that refuses but charges is found out', async () => {
    const generate = async (req: IncomingMessage) => {
      const headers = { authorization: req.headers.authorization! };
      const body = Buffer.concat(await req.toArray());
      await fetch(`${service.ready.baseUrl}/generate`, { method: 'POST', headers, body });
    };
    const refuse = withoutModel('SERVICE_UNAVAILABLE');
    const { stdout } = await smokeStack((req, res) => {
      if (req.method !== 'POST' || req.headers['idempotency-key'] === undefined) return refuse(req, res);
      void generate(req).then(() => refuse(req, res));
      return true;
    }, noModel);
    expect(reported(stdout).get(refusal)!.reason).toBe('1 credits are used and 0 held, not 0 and 0');
  });

  test('one sentence says that there is none, or that it lacks an output', async () => {
    const missing = await smokeStack(() => false, {}, 'missing');
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('no stack missing'),
    });
    const old = await smokeStack(() => false, { SignInUrl: '' });
    expect(old).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('no output SignInUrl'),
    });
  });
});
