import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { small } from '../support/requests.ts';
import { reported } from '../support/smoke.ts';
import { until } from '../support/until.ts';
import { stripeEvent, subscription } from '../unit/billing/stripe-fixtures.ts';
import type { EdgeAnswer } from './edge.ts';
import type { EmulatedFixture } from './fixture.ts';

/** A key may ask for ten images a minute. */
const requestsPerKey = 10;
/** As many at once as a machine with two cores answers in time. */
const atOnce = 10;

/** Uses the deployed service as its callers and its operator do. */
export function describeUse(fixture: EmulatedFixture): void {
  /** The operator's CLI, which finds the table by the stack's name. */
  const admin = async (...command: string[]) => {
    const { run, stackName } = fixture;
    const ended = await run('bin/admin.ts', ['--json', '--stack', stackName, ...command]);
    if (ended.code !== 0) throw new Error(`admin ended with ${ended.code}: ${ended.stderr}`);
    return JSON.parse(ended.stdout);
  };
  const generate = (key: string, body: object) =>
    fixture.edge.send(`${fixture.outputs['BaseUrl']}/generate`, {
      headers: { authorization: `Bearer ${key}` },
      body: { ...small, ...body },
    });

  test('npm run smoke finds nothing but that the pool tells other addresses than its own for signing in', async () => {
    const { code, stdout, stderr } = await fixture.run('bin/smoke.ts', [
      '--stack',
      fixture.stackName,
      '--json',
    ]);
    expect(stderr).toBe('');
    const failed = [...reported(stdout).values()].filter(({ status }) => status === 'failed');
    expect(failed.map(({ name, reason }) => [name, reason])).toEqual([
      ['the dashboard and the user pool agree on where to sign in', 'the pool signs in at another address'],
    ]);
    const skipped = [...reported(stdout).values()].filter(({ status }) => status === 'skipped');
    expect(skipped.map(({ name }) => name)).toEqual([
      'without a model a generation is refused and nothing is charged or held',
    ]);
    expect(code).toBe(1);
  });

  describe("with the operator's CLI", () => {
    let identityId: string;
    beforeAll(async () => {
      const slug = `emulated-${randomUUID()}`;
      ({ identityId } = await admin(
        'identity',
        'put',
        '--name',
        'Emulated',
        '--slug',
        slug,
        '--description',
        'A test.',
        '--catalog',
        'founding',
      ));
    });
    const license = async (credits: number): Promise<string> => {
      const { licenseId } = await admin(
        'license',
        'grant',
        '--owner',
        'sub-1',
        '--tier',
        'pro',
        '--founding-catalog',
        '--credits',
        String(credits),
      );
      return licenseId;
    };

    test('a license, its key and the identity are there on the next request, and a revoked key is not', async () => {
      const { keyId, key } = await admin('key', 'issue', await license(10), '--name', 'first');
      const identities = () =>
        fixture.edge.send(`${fixture.outputs['BaseUrl']}/identities`, {
          headers: { authorization: `Bearer ${key}` },
        });
      expect((await identities()).status).toBe(200);
      // Functions remember the catalog for ten seconds.
      const isListed = async () => {
        const { json } = await identities();
        return json.identities.map(({ id }: any) => id).join() === identityId;
      };
      await until('the identity is listed', isListed, 30_000, 1000);
      await admin('key', 'revoke', keyId, '--yes');
      const refused = await identities();
      expect([refused.status, refused.json.code]).toEqual([401, 'INVALID_API_KEY']);
    });

    test('of 50 requests on 7 credits exactly 7 are answered, each with its image, and the totals are exact', async () => {
      const licenseId = await license(7);
      const keys: string[] = [];
      for (let i = 0; i < 50 / requestsPerKey; i++) {
        keys.push((await admin('key', 'issue', licenseId, '--name', `key ${i}`)).key);
      }
      await warmUp(() => generate(newApiKey(), { identityId }));
      const waiting = keys.flatMap((key) => Array<string>(requestsPerKey).fill(key));
      const answers: EdgeAnswer[] = [];
      const next = async () => {
        for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
          answers.push(await generate(key, { identityId }));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, next));
      const outcomes = Object.groupBy(answers, ({ status, json }) => `${status} ${json?.code ?? ''}`.trim());
      expect(Object.fromEntries(Object.entries(outcomes).map(([name, of]) => [name, of!.length]))).toEqual({
        200: 7,
        '429 CREDIT_LIMIT_EXCEEDED': 43,
      });
      const links = outcomes['200']!.map(({ json }) => json.outputs[0] as string);
      const images = await Promise.all(links.map((link) => fixture.edge.send(link)));
      expect(images.map(({ headers }) => headers['content-type'])).toEqual(Array(7).fill('image/png'));
      const usage = await admin('usage', licenseId);
      expect(usage).toMatchObject({ stats: { current: 7, limit: 7 }, held: 0 });
      expect(usage.aggregates.byType).toMatchObject({ text_to_image: { requests: 7, credits: 7 } });
    });
  });

  test("an event of Stripe's goes through bus, rule, queue and function, and makes a license", async () => {
    const ownerId = randomUUID();
    const sold = subscription({ id: `sub_${Date.now()}`, metadata: { ownerId } });
    const event = stripeEvent('customer.subscription.created', sold);
    const { eventBusName } = fixture.options.billing!;
    const Entries = ['customer.created', event.type].map((DetailType) => ({
      // Only AWS's partners may send events of theirs. The rule asks for the detail type alone.
      Source: 'test',
      EventBusName: eventBusName,
      DetailType,
      Detail: JSON.stringify(event),
    }));
    expect(await fixture.ask('events', 'put_events', { Entries })).toMatchObject({ FailedEntryCount: 0 });
    let licenses: any[] = [];
    await until('there is a license', async () => {
      ({ licenses } = await admin('license', 'list', '--owner', ownerId));
      return licenses.length > 0;
    });
    expect(licenses).toEqual([expect.objectContaining({ ownerId, tier: 'pro', foundingCatalog: true })]);
    for (const prefix of ['BillingQueueEvents', 'BillingQueueDeadLetters']) {
      const QueueUrl = fixture.physicalId('AWS::SQS::Queue', prefix);
      await until(`nothing is left in ${prefix}`, async () => {
        const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
        const asked = { QueueUrl, AttributeNames: names };
        const { Attributes: counts } = await fixture.ask('sqs', 'get_queue_attributes', asked);
        return names.every((name) => counts[name] === '0');
      });
    }
  });
}

/** The emulator starts a process for each request at once. A start takes processor time, which calls to the table may not wait for. */
async function warmUp(ask: () => Promise<EdgeAnswer>): Promise<void> {
  await until('as many processes as needed have started', async () => {
    const answers = await Promise.all(Array.from({ length: atOnce }, ask));
    return answers.every(({ status }) => status === 401);
  });
}
