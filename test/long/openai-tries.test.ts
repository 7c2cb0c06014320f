import { afterAll, expect, test } from '@jest/globals';
import { generationPages } from '../../shared/generations/pages.ts';
import { seededRandom } from '../faults/simulation/random.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { grant } from '../support/grants.ts';
import { pause } from '../support/until.ts';
import { useService } from '../support/use-service.ts';
import { runSdk } from './openai/run.ts';
import { startLossyProxy, type Fate } from './openai/lossy-proxy.ts';

/** So that a try often comes while the one before runs. */
const container = await startContainer(async (request, res) => {
  emit(res, { event: 'started' });
  await pause(500);
  await deliver(request, res);
});
afterAll(() => container.close());
const service = useService({ args: ['--container', container.url] });
/** Of each SDK. `OPENAI_PAIRS=125` is 500 pictures by both. */
const pairs = Number(process.env['OPENAI_PAIRS'] ?? 15);
const seed = Number(process.env['OPENAI_SEED'] ?? Date.now() % 1_000_000);

// The SDK for JavaScript reads the body after its last chance to try again.
test.each<['Python' | 'JavaScript', Fate[]]>([
  ['Python', []],
  ['JavaScript', ['breaks in the answer']],
])(
  "OpenAI's SDK for %s, whose answers are lost, is paid once for each of two equal pictures at once, and gets them",
  async (sdk, without) => {
    const proxy = await startLossyProxy(
      Number(new URL(service.ready.baseUrl).port),
      seededRandom(seed),
      without,
    );
    const baseUrl = `${proxy.url}${new URL(service.ready.baseUrl).pathname}/openai/v1`;
    // A key for each pair, so that none meets a rate limit.
    const granted = await Promise.all(Array.from({ length: pairs }, () => grant(service.table)));
    const body = { response_format: 'url', prompt: 'the same' };
    const outcomes = await runSdk(
      sdk,
      granted.map(({ key }, i) => ({ name: `${i}`, call: 'at-once', key, baseUrl, body, maxRetries: 2 })),
    );
    proxy.close();
    const found = { twice: 0, errors: 0, unpaid: 0, charged: 0 };
    for (const [i, { license }] of granted.entries()) {
      const records = await generationPages(service.table).list(license.licenseId, 50, null);
      const paid = records.filter(({ status }) => status === 'COMPLETED').map(({ requestId }) => requestId);
      const { ok } = outcomes[i]!;
      found.charged += paid.length;
      if (paid.length > 2) found.twice += 1;
      if (ok === undefined) found.errors += 1;
      else if (!ok.every(({ requestId }: any) => paid.includes(requestId))) found.unpaid += 1;
    }
    console.log(sdk, { seed, pairs, ...found }, proxy.counts);
    expect(found).toMatchObject({ twice: 0, errors: 0, unpaid: 0 });
  },
  3_600_000,
);
