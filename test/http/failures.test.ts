import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { demoIdentities } from '../../local/demo-data.ts';
import { newAccount } from '../support/accounts.ts';
import { headersOf, messageOf } from '../support/agent.ts';
import { expectError } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { openImage, pngSize } from '../support/png.ts';
import { generate, newestWith, small, stored } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
const { flint, harbor } = service.ready.identities;
const events = { accept: 'text/event-stream' };

const failWith = String(demoIdentities.flint!.painter!.failWith);

test('flint is 500 GENERATION_FAILED and stored as FAILED, with no word of the model: those are in the log', async () => {
  const { key } = await grant(table);
  const answer = await generate(service, key, { identityId: flint });
  expectError(answer, 500, 'GENERATION_FAILED');
  expect(answer.body.error).toMatch(/^The model could not finish the image\. /);
  const requestId = answer.headers.get('x-request-id')!;
  const failed = { id: requestId, status: 'FAILED', errorMessage: 'The model could not finish the image.' };
  const nothing = { outputUrl: null, outputs: [], creditsCharged: 0 };
  expect(await stored(service, key, requestId)).toMatchObject({ ...failed, ...nothing });
  const lines = readFileSync(join(service.dataDir, 'service.log'), 'utf8').split('\n');
  expect(lines.filter((line) => line.includes(requestId)).join()).toContain(failWith);
});

describe('a client that hangs up does not lose its image, and pays for it once', () => {
  test.each([
    ['by key', '/generate', {}],
    ['by key, with events', '/generate', events],
    ['in the playground', '/playground/generate', {}],
    ['in the playground, with events', '/playground/generate', events],
    ['by MCP', '/mcp', {}],
  ])('%s', async (_, path, headers) => {
    const { key, session, license } = await newAccount(service);
    const client = new AbortController();
    const isPlayground = path.startsWith('/playground');
    const order = { ...small, identityId: harbor, ...(isPlayground && { licenseId: license.licenseId }) };
    const call = { method: 'tools/call', params: { name: 'generate', arguments: order } };
    const isAgent = path === '/mcp';
    const sent = fetch(service.ready.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${isPlayground ? session : key}`,
        ...(isAgent ? headersOf(call) : headers),
      },
      body: JSON.stringify(isAgent ? messageOf(call) : order),
      signal: client.signal,
    }).then((answer) => answer.text());
    const id = await newestWith(service, key, ['PROCESSING', 'COMPLETED']);
    client.abort();
    await sent.catch(() => {});
    expect(await newestWith(service, key, ['COMPLETED'])).toBe(id);
    const record = await stored(service, key, id);
    expect(record.creditsCharged).toBe(1);
    expect(pngSize(await openImage(record.outputUrl))).toEqual({ width: 512, height: 512 });
    await expectCharged(table, license, 1);
  });
});
