import { expect, test } from '@jest/globals';
import { grant, type Granted } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { useService } from '../support/use-service.ts';

const service = useService();

/** Sends a file and has it used. @returns the answer, and how long the request took. */
async function useFile({ key }: Granted, file: Buffer) {
  const { body: upload } = await service.api({ path: '/uploads', key, body: {} });
  await sendFile(upload, file);
  const referenceImages = [{ uploadId: upload.uploadId }];
  const body = { ...small, identityId: service.ready.identities.citrine, referenceImages };
  const startedMs = performance.now();
  const answer = await service.api({ path: '/generate', key, body });
  return { ...answer, tookMs: performance.now() - startedMs };
}

test('files that look right and that the model can not read cost a license with one credit five calls of it, not as many as it likes', async () => {
  const [attacker, victim] = [await grant(service.table, { creditsLimit: 1 }), await grant(service.table)];
  const photo = await samplePhoto({ format: 'jpeg' });
  const noise = Buffer.from(photo).fill(0x55, photo.length / 4);
  const before = await useFile(victim, photo);
  const answers = [];
  for (let i = 0; i < 9; i++) answers.push(await useFile(attacker, noise));
  const after = await useFile(victim, photo);
  expect(answers.map(({ status }) => status)).toEqual([...Array(5).fill(400), ...Array(4).fill(429)]);
  const { body, headers } = answers.at(-1)!;
  expect(body).toMatchObject({
    code: 'RATE_LIMITED',
    error: expect.stringContaining('5 with a reference image'),
  });
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(900);
  const { body: usage } = await service.api({ path: '/generate', key: attacker.key });
  expect(usage.generations.map(({ status }: any) => status)).toEqual(Array(5).fill('FAILED'));
  expect([before.status, after.status]).toEqual([200, 200]);
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  console.log(
    `9 requests called the model 5 times and cost 0 credits; another license waited ${seconds(before.tookMs)} s before, ${seconds(after.tookMs)} s after`,
  );
});
