import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { everything, failedIn, reported, smoke } from '../support/smoke.ts';

let service: RunningService;
beforeAll(async () => void (service = await startService()));
afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const onService = (...args: string[]) => ['--data', service.dataDir, ...args];

describe('against the local service', () => {
  test('every check passes, and everything that was made is gone again', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout, stderr } = await smoke(onService());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('14 passed, 0 failed, 2 skipped\n');
    expect(stdout.match(/^✓ .* \(\d+ ms\)$/gm)).toHaveLength(14);
    expect(await everything(service.dataDir)).toEqual(before);
  });

  test('neither keys nor links are printed, in neither form', async () => {
    const runs = await Promise.all([smoke(onService()), smoke(onService('--json'))]);
    for (const { stdout, stderr } of runs) expect(stdout + stderr).not.toMatch(/svc_live_\w|X-Amz-|Bearer/);
  });

  test('with --json nothing but one JSON object is on stdout', async () => {
    const { code, stdout } = await smoke(onService('--json'));
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ passed: true, baseUrl: service.ready.baseUrl });
  });

  test('an identity that is there already is used and left as it was; one without photos is sent none', async () => {
    const before = await everything(service.dataDir);
    const { code, stdout } = await smoke(onService('--identity', service.ready.identities.aurora!));
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('13 passed') });
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

  test('Ctrl-C while an image is painted waits for it, checks nothing more and leaves nothing', async () => {
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
