import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { License } from '../../shared/licenses/license.ts';
import type { Table } from '../../shared/table/table.ts';
import { startQuickContainer } from '../fuzz/quick-container.ts';
import { expectError } from '../support/answers.ts';
import { end, endCommands, startOn, type CommandService } from '../support/command.ts';
import { lastEvent } from '../support/events.ts';
import { grant, type Granted } from '../support/grants.ts';
import { fixedTableOf, periodTotals } from '../support/period-totals.ts';
import { generate, newestWith, small, stored } from '../support/requests.ts';
import { removeFolder, temporaryFolder, type ApiAnswer } from '../support/service.ts';

const sentence = 'The service was stopped before the image was finished.';
const charged = `${sentence} Nothing was charged.`;
const dataDir = temporaryFolder();
let container: Awaited<ReturnType<typeof startQuickContainer>>;

interface Begun {
  granted: Granted;
  id: string;
  answer: Promise<ApiAnswer>;
}

/** Begins a generation by a license of its own and waits until its model works. */
async function begin(service: CommandService, table: Table, slug: string, headers = {}): Promise<Begun> {
  const granted = await grant(table, { used: 3 });
  const answer = generate(service, granted.key, { identityId: service.ready.identities[slug] }, headers);
  return { granted, answer, id: await newestWith(service, granted.key, ['PROCESSING']) };
}

/** As `begin`, by a client that hangs up. */
async function beginAndLeave(service: CommandService, table: Table): Promise<License> {
  const { key, license } = await grant(table);
  const client = new AbortController();
  const sent = fetch(`${service.ready.baseUrl}/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...small, identityId: service.ready.identities.glacier }),
    signal: client.signal,
  });
  await newestWith(service, key, ['PROCESSING']);
  client.abort();
  await expect(sent).rejects.toThrow('abort');
  return license;
}

/** The last line that it printed. */
const said = ({ command }: CommandService) => command.stdout().trim().split('\n').at(-1)!.trim();

beforeAll(async () => {
  container = await startQuickContainer();
});

afterAll(async () => {
  await endCommands();
  await container.close();
  removeFolder(dataDir);
});

test('SIGTERM: who is not done within the grace learns so and gets credits back', async () => {
  const service = await startOn(dataDir, '--grace', '1', '--container', container.url);
  const table = await fixedTableOf(dataDir);
  // Glacier never finishes.
  const slow = await begin(service, table, 'glacier');
  const slowWithEvents = await begin(service, table, 'glacier', { accept: 'text/event-stream' });
  const leftLicense = await beginAndLeave(service, table);

  service.command.signal('SIGTERM');
  const refused = await slow.answer;
  expectError(refused, 503, 'SERVICE_UNAVAILABLE');
  expect(refused.headers.get('x-request-id')).toBe(slow.id);
  expect([refused.headers.get('retry-after'), refused.body.error]).toEqual(['5', charged]);
  const { status, body } = await slowWithEvents.answer;
  expect(status).toBe(200);
  const data = { error: charged, code: 'SERVICE_UNAVAILABLE', status: 503 };
  expect(lastEvent(body)).toEqual({ event: 'failed', data });
  expect(await service.command.ended).toBe(0);
  expect(said(service)).toBe('3 requests stopped without a charge.');
  expect(service.command.stderr()).toBe('');

  const next = await startOn(dataDir);
  const nextTable = await fixedTableOf(dataDir);
  for (const { granted, id } of [slow, slowWithEvents]) {
    expect(await stored(next, granted.key, id)).toMatchObject({
      status: 'FAILED',
      errorMessage: sentence,
      creditsCharged: 0,
      outputUrl: null,
    });
    expect(await periodTotals(nextTable, granted.license)).toEqual({ used: 3, committed: 3 });
  }
  expect(await periodTotals(nextTable, leftLicense)).toEqual({ used: 0, committed: 0 });
  await end(next, 'SIGTERM');
});
