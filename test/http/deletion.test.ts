import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { newAccount } from '../support/accounts.ts';
import { callTool } from '../support/agent.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey } from '../support/grants.ts';
import { allObjects, objectsOf } from '../support/objects.ts';
import { expectCharged, reserveAbandoned } from '../support/period-totals.ts';
import { generate, small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { allItems } from '../support/table-scan.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
const { aurora, citrine, flint } = service.ready.identities as Record<string, string>;

const remove = (key: string, requestId: string) =>
  service.api({ method: 'DELETE', path: `/generate/${requestId}`, key });
const fetched = (key: string, requestId: string) => service.api({ path: `/generate/${requestId}`, key });

/** A text that occurs nowhere else, in characters that no encoding changes. */
const secret = (what: string) => `Secret${what}${randomUUID().replaceAll('-', '')}`;

const inBase64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

/** Everything that a caller gets, but for what differs from one request to the next. */
async function received(key: string, method: string, requestId: string): Promise<unknown> {
  const answer = await fetch(`${service.ready.baseUrl}/generate/${requestId}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  const headers = [...answer.headers]
    .filter(([name]) => name !== 'x-request-id' && name !== 'date')
    .map(([name, value]) => [name, name === 'ratelimit' ? value.replaceAll(/=\d+/g, '=n') : value]);
  return { status: answer.status, headers, text: await answer.text() };
}

async function usageOf({ licenseId }: { licenseId: string }, session: string): Promise<any> {
  const { body } = await service.api({ path: `/usage?licenseId=${licenseId}`, key: session });
  return body;
}

describe('a deleted request', () => {
  test('leaves nothing: neither its words in the table nor its pictures in the bucket, and its links are dead', async () => {
    const { key, license, session } = await newAccount(service);
    const { body: upload } = await service.api({ method: 'POST', path: '/uploads', key });
    await sendFile(upload, await samplePhoto());
    const words = [secret('Prompt'), secret('Negative')] as const;
    const order = { identityId: citrine, prompt: `a ${words[0]} by night`, negativePrompt: words[1] };
    const references = { referenceImages: [{ uploadId: upload.uploadId }] };
    const made = await generate(service, key, { ...order, ...references, numOutputs: 2 });
    expectOk(made);
    const { requestId, outputs, previews } = made.body;
    const links: string[] = [...outputs, ...previews];
    const files = await Promise.all(
      links.map(async (link) => Buffer.from(await (await fetch(link)).arrayBuffer())),
    );
    const usage = await usageOf(license, session);
    expect(usage.history).toHaveLength(1);

    // Any key of the same license may.
    const { key: other } = await issueKey(table, license);
    const deleted = await remove(other, requestId);
    expectOk(deleted);
    expect(deleted.body).toEqual({ requestId, deleted: true });

    const stored = JSON.stringify(await allItems(table));
    expect(stored).toContain(license.licenseId);
    for (const word of words) {
      expect(stored).not.toContain(word);
      expect(stored).not.toContain(inBase64(word));
    }
    const own = objectsOf(service.dataDir, license).map(({ key: place }) => place);
    expect(own).toEqual([`uploads/${license.licenseId}/${upload.uploadId}`]);
    const everything = allObjects(service.dataDir);
    for (const bytes of files) {
      expect(bytes.length).toBeGreaterThan(100);
      expect(everything.filter(({ file }) => file.includes(bytes))).toEqual([]);
    }
    const statuses = await Promise.all(links.map(async (link) => (await fetch(link)).status));
    expect(statuses).toEqual(links.map(() => 404));
    expect(await usageOf(license, session)).toEqual({ ...usage, history: [] });
    await expectCharged(table, license, 2);
  });

  test('is not found anywhere, byte for byte as one that never was', async () => {
    const { key, license, session } = await newAccount(service);
    const { body: made } = await generate(service, key, { identityId: aurora });
    const { body: kept } = await generate(service, key, { identityId: aurora });
    expectOk(await remove(key, made.requestId));
    for (const caller of [key, session]) {
      for (const method of ['GET', 'DELETE']) {
        const missing = await received(caller, method, newRequestId(Date.now()));
        expect(missing).toMatchObject({ status: 404 });
        expect(await received(caller, method, made.requestId)).toEqual(missing);
        expect(await received(caller, method, made.requestId.toUpperCase())).toEqual(missing);
      }
    }
    for (const query of ['', '?limit=1', '?status=COMPLETED']) {
      const { body } = await service.api({ path: `/generate${query}`, key });
      expect(body.generations.map(({ id }: { id: string }) => id)).toEqual([kept.requestId]);
    }
    const { history } = await usageOf(license, session);
    expect(history.map((one: { requestId: string }) => one.requestId)).toEqual([kept.requestId]);
    const told = await Promise.all(
      [made.requestId, newRequestId(Date.now())].map((requestId) =>
        callTool(service, key, 'get_generation', { requestId }),
      ),
    );
    expect(told[0]).toMatchObject({ isError: true });
    expect(told[0]).toEqual(told[1]);
  });

  test('is not generated again by a repeat with its idempotency key, whichever way it comes', async () => {
    const { key, license } = await grant(table);
    const headers = { 'idempotency-key': 'mine' };
    const order = { identityId: aurora, prompt: secret('Prompt') };
    const send = (path: string, body: object): Promise<ApiAnswer> =>
      service.api({ path, key, body, headers });
    const first = await generate(service, key, order, headers);
    expectOk(await remove(key, first.body.requestId));
    expectError(await generate(service, key, order, headers), 404, 'REQUEST_NOT_FOUND');
    const later = { ...headers, prefer: 'respond-async' };
    expectError(await generate(service, key, order, later), 404, 'REQUEST_NOT_FOUND');
    expectError(await generate(service, key, { ...order, seed: 1 }, headers), 422, 'IDEMPOTENCY_MISMATCH');
    const dry = await send('/generate?dryRun=true', { ...small, ...order });
    expectError(dry, 404, 'REQUEST_NOT_FOUND');

    const theirs = { model: aurora, prompt: order.prompt, size: '512x512', steps: 20 };
    const path = '/openai/v1/images/generations';
    const inTheirWords = (body: object) =>
      service.api({ path, key, body, headers: { 'idempotency-key': 'theirs' } });
    const second = await inTheirWords(theirs);
    expect(second.status).toBe(200);
    expectOk(await remove(key, second.headers.get('x-request-id')!));
    const replayed = await inTheirWords(theirs);
    expect([replayed.status, replayed.body.error.code]).toEqual([404, 'REQUEST_NOT_FOUND']);

    const sent = { ...small, ...order, idempotencyKey: 'agent-1' };
    const third = await callTool(service, key, 'generate', sent);
    expectOk(await remove(key, third.structuredContent.requestId));
    const repeated = await callTool(service, key, 'generate', sent);
    expect(repeated).toMatchObject({ isError: true, structuredContent: { code: 'REQUEST_NOT_FOUND' } });
    // The three that were deleted, and nothing since.
    await expectCharged(table, license, 3);
    expect(objectsOf(service.dataDir, license)).toEqual([]);
  });
});

describe('DELETE /generate/{requestId}', () => {
  test("deletes by its owner's session, of any of the account's licenses, and what failed too", async () => {
    const { key, license, session } = await newAccount(service);
    const other = await grant(table, { ownerId: license.ownerId });
    const failed = await generate(service, other.key, { identityId: flint });
    expect(failed.status).toBe(500);
    const { body: made } = await generate(service, key, { identityId: aurora });
    for (const [owner, requestId] of [
      [other.key, failed.headers.get('x-request-id')!],
      [key, made.requestId],
    ] as const) {
      expect((await fetched(owner, requestId)).status).toBe(200);
      expect((await remove(session, requestId)).body).toEqual({ requestId, deleted: true });
      expectError(await fetched(owner, requestId), 404, 'REQUEST_NOT_FOUND');
    }
  });

  test('leaves a request that runs as it is: its credits are held and its images may come', async () => {
    const { key, license, session } = await newAccount(service);
    const { requestId } = await reserveAbandoned(table, license, { identityId: aurora! });
    const before = (await fetched(key, requestId)).body;
    for (const caller of [key, session]) {
      expectError(await remove(caller, requestId), 409, 'REQUEST_IN_PROGRESS');
    }
    expect((await fetched(key, requestId)).body).toEqual(before);
  });

  test('finds no request whose days are over', async () => {
    const { key, license } = await grant(table);
    const acceptedAtMs = Date.now() - 91 * 24 * 3600_000;
    const { requestId } = await reserveAbandoned(table, license, { identityId: aurora!, acceptedAtMs });
    expectError(await remove(key, requestId), 404, 'REQUEST_NOT_FOUND');
  });
});
