import { expect, test } from '@jest/globals';
import { modelServer } from '../../../shared/model/client.ts';
import { outputFormats, type OutputFormat } from '../../../shared/images/image-types.ts';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { tenantOf } from '../../../shared/model/tenant.ts';
import { acceptGeneration, finishGeneration } from '../../../shared/generations/create.ts';
import { useEngines } from './use-engines.ts';
import { emit, identity, license, newCommand, paint, run, stored, type Behaviour } from './fixture.ts';

const fixture = useEngines();

test('without a model, a request is refused with SERVICE_UNAVAILABLE and nothing is held, whether it would wait or not', async () => {
  for (const respondAsync of [false, true]) {
    const command = newCommand(fixture, { respondAsync });
    const accepted = acceptGeneration(command, { ...fixture.deps, model: modelServer(null) });
    await expect(accepted).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await stored(fixture, command)).generation).toBeNull();
  }
  expect(await modelServer(null).probe()).toBe('unavailable');
});

test('a request that ends in the next period is charged to the period that held it', async () => {
  const { endMs } = billingPeriod(license.periodAnchorMs, Date.now());
  // An hour before the end of the period, and then an hour after it.
  const hourMs = 3600 * 1000;
  fixture.clock.shiftMs = endMs - Date.now() - hourMs;
  fixture.container.state.behaviour = async (request, res) => {
    emit(res, { event: 'started' });
    fixture.clock.shiftMs += 2 * hourMs;
    await paint(request, res);
  };
  const command = newCommand(fixture);
  expect(await run(command, fixture.deps)).toMatchObject({
    usage: { creditsUsed: 2, periodResetDate: new Date(endMs).toISOString() },
  });
  const { licenseId } = command.license;
  expect(await fixture.deps.periods.get(licenseId, endMs)).toMatchObject({ used: 0, committed: 0 });
  expect((await stored(fixture, command)).period).toMatchObject({ used: 2, committed: 2 });
});

test('a request stays QUEUED while it waits, and its container learns a tenant instead of its license', async () => {
  const command = newCommand(fixture);
  const { licenseId } = command.license;
  const told: unknown[] = [];
  const statuses: string[] = [];
  let tenant = '';
  const note = async () => void statuses.push((await stored(fixture, command)).generation!.status);
  const [isNoted, isTold] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  fixture.container.state.behaviour = async (request, res) => {
    ({ tenant } = request);
    emit(res, { event: 'queued', position: 2, etaSeconds: 9 });
    await isTold.promise;
    await note();
    emit(res, { event: 'started' });
    await isNoted.promise;
    await paint(request, res);
  };
  const observer = {
    queued: (...place: number[]) => {
      told.push(place);
      isTold.resolve();
    },
    started: () => {
      told.push('started');
      void note().then(isNoted.resolve);
    },
  };
  const accepted = await acceptGeneration(command, fixture.deps);
  if (accepted.outcome !== 'accepted') throw new Error('it was not accepted');
  await finishGeneration(accepted, command.license, observer, fixture.deps);
  expect([told, statuses]).toEqual([
    [[2, 9], 'started'],
    ['QUEUED', 'PROCESSING'],
  ]);
  expect(tenant).toBe(tenantOf(licenseId));
});

/** What the container was asked last. */
let asked: ModelRequest;
async function generate(outputFormat: OutputFormat, behaviour: Behaviour = paint) {
  fixture.container.state.behaviour = (request, res) => {
    asked = request;
    return behaviour(request, res);
  };
  const body = { identityId: identity.identityId, prompt: 'x', width: 512, height: 512 };
  const one = newCommand(fixture, { body: { ...body, outputFormat } });
  const outcome = (await run(one, fixture.deps)) as any;
  return { outcome, ...(await stored(fixture, one)) };
}

const extensions = { png: '.png', webp: '.webp', jpeg: '.jpg' };

test.each(outputFormats)('%s images have their own name and Content-Type', async (outputFormat) => {
  const { outcome, generation } = await generate(outputFormat);
  expect(asked.outputFormat).toBe(outputFormat);
  expect(generation).toMatchObject({ status: 'COMPLETED', outputFormat });
  const [link] = outcome.outputs;
  expect(new URL(link).pathname).toMatch(new RegExp(`/output-0\\${extensions[outputFormat]}$`));
  const file = await fetch(link);
  expect([file.status, file.headers.get('content-type')]).toEqual([200, `image/${outputFormat}`]);
});

test.each(['webp', 'jpeg'] as const)(
  'a container that is older than the choice of formats fails a request for %s, which costs nothing',
  async (outputFormat) => {
    /** What each link answered. */
    const answers: number[] = [];
    const { outcome, generation, period } = await generate(outputFormat, async ({ outputs }, res) => {
      const headers = { 'content-type': 'image/png' };
      for (const { putUrl } of outputs)
        answers.push((await fetch(putUrl, { method: 'PUT', headers, body: 'image' })).status);
      const image = { bytes: 5, sha256: 'a'.repeat(64), width: 512, height: 512 };
      emit(res, { event: 'completed', outputs: [image], referenceImagesUsed: 0, modelVersion: '1' });
      res.end();
    });
    expect(answers).toEqual([403]);
    expect([outcome.code, outcome.status]).toEqual(['GENERATION_FAILED', 500]);
    expect(generation).toMatchObject({ status: 'FAILED', outputFormat });
    expect(period).toMatchObject({ used: 0, committed: 0 });
    expect(await fixture.deps.objects.outputSize(generation!, 0)).toBeNull();
  },
);
