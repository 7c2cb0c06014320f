import { describe, expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { findGeneration } from '../../../shared/generations/find.ts';
import { allRights } from '../../../shared/keys/rights.ts';

const nowMs = 1_800_000_000_000;
const requestId = newRequestId(nowMs - 1000);
const kept = (expiresAtMs: number) => ({ requestId, expiresAtMs }) as Generation;
const notFound = { code: 'REQUEST_NOT_FOUND', message: 'No stored request has this ID.' };

describe('a stored request', () => {
  test('is found by its id in any case', async () => {
    const asked: string[] = [];
    const find = (id: string) => Promise.resolve((asked.push(id), kept(nowMs + 1)));
    const found = await findGeneration(requestId.toUpperCase(), find, allRights, nowMs);
    expect([found.requestId, asked]).toEqual([requestId, [requestId]]);
  });

  test('is not found any more once it is kept no longer, in the words of one that never was', async () => {
    for (const stored of [null, kept(nowMs), kept(nowMs - 1)]) {
      await expect(findGeneration(requestId, async () => stored, allRights, nowMs)).rejects.toMatchObject(
        notFound,
      );
    }
  });

  test('is not looked for by what is no id', async () => {
    const never = () => Promise.reject(new Error('looked'));
    for (const sent of ['', 'x', `${requestId} `, '__proto__', requestId.replaceAll('-', '')]) {
      await expect(findGeneration(sent, never, allRights, nowMs)).rejects.toMatchObject(notFound);
    }
  });
});
