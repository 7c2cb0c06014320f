import { expect, test } from '@jest/globals';
import { eventsIn } from '../support/events.ts';
import { grant } from '../support/grants.ts';
import { newestWith, small } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';

// Of its own: on the shared one, requests of other files stand in the line, too.
const service = useService();

test('a request that waits for another one is queued, with its place and seconds, before it is started', async () => {
  const { aurora, citrine } = service.ready.identities;
  const { key } = await grant(service.table);
  const { key: other } = await grant(service.table);
  const followed = {
    path: '/generate',
    key: other,
    body: { ...small, identityId: aurora },
    headers: { accept: 'text/event-stream' },
  };
  const body = { ...small, identityId: citrine, width: 1024, height: 1024, numOutputs: 4 };
  let names: string[] = [];
  let waiting: any[] = [];
  // It may come too late to wait: then the other one is painted again.
  for (let attempt = 0; waiting.length === 0 && attempt < 5; attempt += 1) {
    const before = service.api({ path: '/generate', key, body });
    await newestWith(service, key, ['PROCESSING', 'COMPLETED']);
    const events = eventsIn((await service.api(followed)).body);
    names = events.map(({ event }) => event);
    waiting = events.filter(({ event }) => event === 'queued').map(({ data }) => data);
    expect([names.at(-1), (await before).status]).toEqual(['completed', 200]);
  }
  expect(waiting.length).toBeGreaterThan(0);
  expect(names.slice(0, waiting.length + 2)).toEqual(['accepted', ...waiting.map(() => 'queued'), 'started']);
  for (const place of waiting) expect(place).toEqual({ position: 1, etaSeconds: expect.any(Number) });
});
