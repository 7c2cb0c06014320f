import { describe, expect, test } from '@jest/globals';
import { eventsIn, lastEvent } from '../support/events.ts';
import { openImage } from '../support/png.ts';
import { grant } from '../support/grants.ts';
import { generate, small } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { aurora, flint, harbor } = service.ready.identities;
const accept = 'text/event-stream';

async function follower() {
  const { key } = await grant(service.table);
  return (body: object, headers: object = {}) => generate(service, key, { ...body }, { accept, ...headers });
}

// The playground's are the same: playground.test.ts and failures.test.ts.
describe('the events of POST /generate', () => {
  test('are accepted, started, progress, then completed with the usual body', async () => {
    const follow = await follower();
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
    await openImage(last.data.outputs[0]);
  });

  test('end with a failure, which says that nothing was charged', async () => {
    const { status, body } = await (await follower())({ identityId: flint });
    expect(status).toBe(200);
    const error = expect.stringMatching(/^The model could not finish the image\. .*Nothing was charged/);
    const data = { code: 'GENERATION_FAILED', status: 500, error };
    expect(lastEvent(body)).toEqual({ event: 'failed', data });
  });

  test('of a replay are one completed event', async () => {
    const follow = await follower();
    const headers = { 'idempotency-key': 'events' };
    const first = eventsIn((await follow({ identityId: aurora }, headers)).body);
    const again = await follow({ identityId: aurora }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const events = eventsIn(again.body);
    expect(events.map(({ event }) => event)).toEqual(['completed']);
    expect(events[0]!.data.requestId).toBe(first.at(-1)!.data.requestId);
  });
});
