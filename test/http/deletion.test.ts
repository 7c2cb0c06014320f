import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey } from '../support/grants.ts';
import { allObjects, objectsOf } from '../support/objects.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { generate } from '../support/requests.ts';
import { allItems } from '../support/table-scan.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { identities, newAccount, service, table, type Account } from './fixture.ts';

const { aurora, citrine, flint } = identities;

const remove = (key: string, requestId: string) =>
  service.api({ method: 'DELETE', path: `/generate/${requestId}`, key });
const usageOf = async ({ bySession, license }: Account) =>
  (await bySession(`/usage?licenseId=${license.licenseId}`)).body;

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

describe('a deleted request', () => {
  test('leaves nothing: neither its words in the table nor its pictures in the bucket, and its links are dead', async () => {
    const own = await newAccount();
    const { byKey, license } = own;
    const { body: upload } = await byKey('/uploads', { method: 'POST' });
    await sendFile(upload, await samplePhoto());
    const words = [secret('Prompt'), secret('Negative')];
    const texts = { prompt: `a ${words[0]} by night`, negativePrompt: words[1] };
    const referenceImages = [{ uploadId: upload.uploadId }];
    const made = await own.generate({ identityId: citrine, ...texts, referenceImages, numOutputs: 2 });
    expectOk(made);
    const { requestId, outputs, previews } = made.body;
    const links: string[] = [...outputs, ...previews];
    const files = await Promise.all(
      links.map(async (link) => Buffer.from(await (await fetch(link)).arrayBuffer())),
    );
    const usage = await usageOf(own);
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
      expect(stored).not.toContain(inBase64(word!));
    }
    const left = objectsOf(service.dataDir, license).map(({ key: place }) => place);
    const { licenseId } = license;
    expect(left.toSorted()).toEqual([
      `erased/${licenseId}/${requestId}`,
      `uploads/${licenseId}/${upload.uploadId}`,
    ]);
    const everything = allObjects(service.dataDir);
    for (const bytes of files) {
      expect(bytes.length).toBeGreaterThan(100);
      expect(everything.filter(({ file }) => file.includes(bytes))).toEqual([]);
    }
    const statuses = await Promise.all(links.map(async (link) => (await fetch(link)).status));
    expect(statuses).toEqual(links.map(() => 404));
    expect(await usageOf(own)).toEqual({ ...usage, history: [] });
    await own.expectCharged(2);
  });

  test('is not found anywhere, byte for byte as one that never was', async () => {
    const own = await newAccount();
    const { key, session, byKey, tool } = own;
    const { requestId } = (await own.generate()).body;
    const kept = [(await own.generate()).body.requestId];
    expectOk(await remove(key, requestId));
    for (const caller of [key, session]) {
      for (const method of ['GET', 'DELETE']) {
        const missing = await received(caller, method, newRequestId(Date.now()));
        expect(missing).toMatchObject({ status: 404 });
        expect(await received(caller, method, requestId)).toEqual(missing);
      }
    }
    const { generations } = (await byKey('/generate')).body;
    expect(generations.map(({ id }: { id: string }) => id)).toEqual(kept);
    const { history } = await usageOf(own);
    expect(history.map((one: { requestId: string }) => one.requestId)).toEqual(kept);
    const found = await tool('get_generation', { requestId });
    expect(found).toMatchObject({ isError: true });
    expect(found).toEqual(await tool('get_generation', { requestId: newRequestId(Date.now()) }));
  });

  test('is not generated again by a repeat with its idempotency key, whichever way it comes', async () => {
    const own = await newAccount();
    const { key, license, byKey, tool } = own;
    const headers = { 'idempotency-key': 'mine' };
    const first = await own.generate({}, headers);
    expectOk(await remove(key, first.body.requestId));
    for (const more of [{}, { prefer: 'respond-async' }])
      expectError(await own.generate({}, { ...headers, ...more }), 404, 'REQUEST_NOT_FOUND');
    expectError(await own.generate({ seed: 1 }, headers), 422, 'IDEMPOTENCY_MISMATCH');

    const body = { model: aurora, prompt: 'x', size: '512x512', steps: 20 };
    const inTheirWords = () =>
      byKey('/openai/v1/images/generations', { body, headers: { 'idempotency-key': 'theirs' } });
    const second = await inTheirWords();
    expectOk(await remove(key, second.headers.get('x-request-id')!));
    expect(await inTheirWords()).toMatchObject({
      status: 404,
      body: { error: { code: 'REQUEST_NOT_FOUND' } },
    });

    const sent = { identityId: aurora, prompt: 'x', idempotencyKey: 'agent-1' };
    const third = await tool('generate', sent);
    expectOk(await remove(key, third.structuredContent.requestId));
    const repeated = await tool('generate', sent);
    expect(repeated).toMatchObject({ isError: true, structuredContent: { code: 'REQUEST_NOT_FOUND' } });
    // The three that were deleted, and nothing since.
    await own.expectCharged(3);
    expect(objectsOf(service.dataDir, license).filter(({ key: at }) => !at.startsWith('erased/'))).toEqual(
      [],
    );
  });
});

describe('DELETE /generate/{requestId}', () => {
  test("deletes by its owner's session, of any of the account's licenses, and what failed too", async () => {
    const { license, session, bySession } = await newAccount();
    const other = await grant(table, { ownerId: license.ownerId });
    const failed = await generate(service, other.key, { identityId: flint });
    const requestId = failed.headers.get('x-request-id')!;
    expect((await bySession(`/generate/${requestId}`)).body.status).toBe('FAILED');
    expect((await remove(session, requestId)).body).toEqual({ requestId, deleted: true });
    expectError(await bySession(`/generate/${requestId}`), 404, 'REQUEST_NOT_FOUND');
  });

  test('leaves a request that runs as it is: its credits are held and its images may come', async () => {
    const { key, license, session, stored } = await newAccount();
    const { requestId } = await reserveAbandoned(table, license, { identityId: aurora! });
    const before = await stored(requestId);
    for (const caller of [key, session])
      expectError(await remove(caller, requestId), 409, 'REQUEST_IN_PROGRESS');
    expect(await stored(requestId)).toEqual(before);
  });

  test('finds no request whose days are over', async () => {
    const { key, license } = await newAccount();
    const acceptedAtMs = Date.now() - 91 * 24 * 3600_000;
    const { requestId } = await reserveAbandoned(table, license, { identityId: aurora!, acceptedAtMs });
    expectError(await remove(key, requestId), 404, 'REQUEST_NOT_FOUND');
  });
});
