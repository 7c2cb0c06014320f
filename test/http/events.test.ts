import { describe, expect, test } from '@jest/globals';
import { newAccount } from '../support/accounts.ts';
import { eventsIn, lastEvent } from '../support/events.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { aurora, flint, harbor } = service.ready.identities;
const accept = 'text/event-stream';

/** An account that generates by key or in the playground, and follows events. */
async function follower(inPlayground: boolean) {
  const { key, session, license } = await newAccount(service);
  const path = inPlayground ? '/playground/generate' : '/generate';
  const own = inPlayground ? { licenseId: license.licenseId } : {};
  return (body: object, headers: object = {}) =>
    service.api({
      path,
      key: inPlayground ? session : key,
      body: { ...small, ...own, ...body },
      headers: { accept, ...headers },
    });
}

describe.each([
  ['POST /generate', false],
  ['POST /playground/generate', true],
])('the events of %s', (_, inPlayground) => {
  test('are accepted, started, progress, then completed with the usual body', async () => {
    const follow = await follower(inPlayground);
    const answer = await follow({ identityId: harbor });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, accept]);
    // Whoever meets other callers waits, and is told so.
    const events = eventsIn(answer.body).filter(({ event }) => event !== 'queued');
    const requestId = answer.headers.get('x-request-id');
    expect(events[0]).toMatchObject({ event: 'accepted', data: { requestId, creditsReserved: 1 } });
    expect(events[1]).toEqual({ event: 'started', data: {} });
    const progress = events.slice(2, -1);
    expect(progress.length).toBeGreaterThan(0);
    const steps = progress.map(({ data }) => data.step);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    for (const { event, data } of progress) {
      expect([event, data.steps]).toEqual(['progress', small.numInferenceSteps]);
      expect(data.step).toBeGreaterThanOrEqual(0);
      expect(data.step).toBeLessThanOrEqual(small.numInferenceSteps);
    }
    const last = events.at(-1)!;
    expect(last).toMatchObject({ event: 'completed', data: { requestId, usage: { creditsCharged: 1 } } });
    const members = [
      'identity',
      'outputs',
      'previews',
      'processingTimeMs',
      'referenceImagesUsed',
      'requestId',
      'seed',
    ];
    expect(Object.keys(last.data).sort()).toEqual([...members, 'usage']);
    await openImage(last.data.outputs[0]);
  });

  test('a failure is the last of them', async () => {
    const follow = await follower(inPlayground);
    const { status, body } = await follow({ identityId: flint });
    expect(status).toBe(200);
    const error = expect.stringMatching(/^The model could not finish the image\. /);
    const data = { code: 'GENERATION_FAILED', status: 500, error };
    expect(lastEvent(body)).toEqual({ event: 'failed', data });
  });

  test('a replay is one completed event', async () => {
    const follow = await follower(inPlayground);
    const headers = { 'idempotency-key': 'events' };
    const first = eventsIn((await follow({ identityId: aurora }, headers)).body);
    const again = await follow({ identityId: aurora }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const events = eventsIn(again.body);
    expect(events.map(({ event }) => event)).toEqual(['completed']);
    expect(events[0]!.data.requestId).toBe(first.at(-1)!.data.requestId);
  });
});
