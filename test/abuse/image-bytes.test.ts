import { expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import { callTool } from '../support/agent.ts';
import { grant } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { useService } from '../support/use-service.ts';

const service = useService();
const { path } = routes.createOpenAiImage;

/** One request, and its repeats side by side, as many as a key may send in a minute. */
async function repeat(form: object) {
  const { key, license } = await grant(service.table);
  const body = { model: 'aurora', prompt: 'a quiet test', n: 2, size: '512x512', steps: 20, ...form };
  const send = () => service.api({ path, key, headers: { 'idempotency-key': 'again' }, body });
  const answers = [await send(), ...(await Promise.all(Array.from({ length: 9 }, send)))];
  await expectCharged(service.table, license, 2);
  const images = answers
    .map(({ body: { data } }) => data?.[0].b64_json)
    .filter((image) => image !== undefined);
  return { key, answers, withImages: images.length, bytes: images.join('').length };
}

test('repeats bring the images themselves through a function five times in all, and their links as often as one likes', async () => {
  const asked = await repeat({ response_format: 'b64_json' });
  expect(asked.withImages).toBe(5);
  const refused = asked.answers.filter(({ status }) => status === 400);
  expect(refused).toHaveLength(5);
  for (const { body, headers } of refused) {
    expect(body.error).toMatchObject({ code: 'INVALID_PARAMETERS', param: 'response_format' });
    expect(body.error.message).toContain('a new request with "url" has them at once');
    expect(headers.get('x-request-id')).toBe(asked.answers[0]!.headers.get('x-request-id'));
  }
  const both = await repeat({});
  expect(both.withImages).toBe(5);
  for (const { status, body } of both.answers)
    expect([status, typeof body.data[0].url]).toEqual([200, 'string']);
  const links = await repeat({ response_format: 'url' });
  expect(links.answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  const requestId = links.answers[0]!.headers.get('x-request-id')!;
  const shown = [];
  for (let i = 0; i < 6; i++) {
    const { content } = await callTool(service, links.key, 'get_generation', { requestId });
    shown.push(content.length);
  }
  expect(shown).toEqual([3, 3, 3, 3, 1, 1]);
  console.log(
    `10 requests for 2 credits brought ${(asked.bytes / 1e6).toFixed(1)} MB through a function, not ${(asked.bytes / 5e5).toFixed(1)} MB`,
  );
});
