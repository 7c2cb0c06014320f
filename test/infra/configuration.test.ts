import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  configuration,
  ConfigurationError,
  readConfiguration,
  readConfigurationFile,
} from '../../lib/configuration.ts';
import { largestOrderSeconds, measuredSteps, mostSteps } from '../../lib/generation-time.ts';
import { createGenerationBody } from '../../shared/generations/contract.ts';
import { shortestIdleSeconds } from '../../shared/model/cold-start.ts';
import { everything } from '../support/configurations.ts';

const messageOf = (value: unknown): string => {
  try {
    readConfiguration(value, 'The file x.json');
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error(`this was taken: ${JSON.stringify(value)}`);
};

/** The options of an endpoint, and what is wrong with them. */
const endpoint = { kind: 'endpoint', modelData: 's3://bucket/p/' };
const ofEndpoint = (changes: object, sentence: string): [object, string] => [
  { inference: { ...endpoint, ...changes } },
  `inference.${sentence}`,
];
const ofBilling = (changes: object, sentence: string): [object, string] => [
  { billing: { ...everything.billing, ...changes } },
  `billing.${sentence}`,
];
const privateKey = '-----BEGIN PRIVATE KEY-----';
const secretArn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:';

test('nothing at all deploys: every option has a default', () => {
  expect(readConfiguration(undefined, '')).toEqual(readConfiguration({}, ''));
  for (const [name, option] of Object.entries(configuration.shape)) {
    expect({ name, taken: option.safeParse(undefined).success }).toEqual({ name, taken: true });
  }
});

const [plan] = everything.plans!;
const ofPlan = (changes: object, sentence: string): [object, string] => [
  { plans: [{ ...plan, ...changes }] },
  `plans.${sentence}`.replace('plans.interval', 'interval'),
];

describe('what is wrong is named, all of it at once', () => {
  test.each<[value: unknown, sentence: string]>([
    [[], 'the whole'],
    [{ stagename: 'x' }, 'there is no option stagename'],
    [{ stage: 'Prod' }, 'stage: must be'],
    ...['myaws', 'amazon1', 'xcognito'].map((stage): [object, string] => [
      { stage },
      'stage: must not contain "aws", "amazon" or "cognito"',
    ]),
    [{ retentionDays: 0 }, 'retentionDays'],
    [{ moderation: { keepRefusedPrompts: 7 } }, 'moderation.keepRefusedPrompts: needs moderation.prompt'],
    [{ logRetentionDays: 2 }, 'logRetentionDays'],
    [{ generationDeadlineSeconds: 271 }, 'generationDeadlineSeconds'],
    [{ modelNames: { 'gpt image': 'a' } }, 'modelNames.gpt image: '],
    [{ modelNames: { 'gpt-image-1': 'no/id' } }, 'modelNames.gpt-image-1: must be the id or slug'],
    [{ modelNames: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, 'a'])) }, 'at most 20 names'],
    [{ inference: { kind: 'gpu' } }, 'inference'],
    ofEndpoint({ modelData: undefined }, 'modelData'),
    ofEndpoint({ modelData: 's3://bucket/prefix' }, 'modelData: must be an S3 prefix'),
    ofEndpoint({ minInstances: 3, maxInstances: 2 }, 'minInstances: must be at most maxInstances'),
    ofEndpoint({ minInstances: 0, maxInstances: 0 }, 'maxInstances'),
    ofEndpoint({ idleMinutes: 30 }, 'idleMinutes: has a meaning only with minInstances 0'),
    // The service counts on that: after a shorter time no other cold start can have begun.
    ofEndpoint({ minInstances: 0, idleMinutes: shortestIdleSeconds / 60 - 1 }, 'idleMinutes: Too small'),
    ofEndpoint({ minInstances: 0, instanceType: 'ml.c7i.xlarge' }, 'minInstances: may be 0 only with'),
    ofEndpoint(
      { minInstances: 0, otherInstanceTypes: ['ml.c7i.xlarge'] },
      'minInstances: may be 0 only with',
    ),
    ofEndpoint({ otherInstanceTypes: ['ml.g6.xlarge'] }, 'otherInstanceTypes: must be other types'),
    ofEndpoint({ otherInstanceTypes: ['ml.g5.12xlarge'] }, 'otherInstanceTypes: ml.g5.12xlarge has 4 GPUs'),
    ofEndpoint({ zones: ['eu-west-1'] }, 'zones.0: must be an availability zone'),
    ofEndpoint({ zones: ['eu-west-1a', 'eu-west-1a'] }, 'zones: must be different zones'),
    ofEndpoint({ zones: ['eu-west-1a'], internetAccess: true }, 'zones: has a meaning only without'),
    ofEndpoint({ amiVersion: 'CUDA 13' }, 'amiVersion: must be'),
    ofEndpoint({ environment: { KEY: privateKey } }, 'environment: must not hold a private key'),
    [{ alarmEmail: 'nobody' }, 'alarmEmail: must be an e-mail address'],
    [{ mail: { from: 'nobody' } }, 'mail.from: must be an e-mail address'],
    [{ allowedOrigins: ['https://a.test/'] }, 'allowedOrigins.0: must be an origin'],
    [{ allowedCallbacks: ['http://a.test/'] }, 'allowedCallbacks.0: must be an https address'],
    [{ domain: { apiName: 'api.example.com' } }, 'domain.apiCertificateArn'],
    [
      { domain: { ...everything.domain, dashboardCertificateArn: everything.domain!.apiCertificateArn } },
      'domain.dashboardCertificateArn: must be a certificate in us-east-1',
    ],
    [{ billingPortalUrl: 'http://billing.example.com' }, 'billingPortalUrl: must be an https URL'],
    [{ supportContact: 'javascript:alert(1)' }, 'supportContact: must be an e-mail address, or must be an'],
    ...['x\ny: z', '(b)', 'ä', 'b\\c'].map((path): [object, string] => [
      { supportContact: `https://a.test/${path}` },
      'supportContact: must be ASCII',
    ]),
    ofPlan({ id: 'a b' }, '0.id: must be 1 to 64 letters'),
    ofPlan({ name: ' ' }, '0.name: must be 1 to 64 characters on one line'),
    ofPlan({ tier: 'gold' }, '0.tier: must be one of starter, standard'),
    ofPlan({ tier: undefined }, '0.tier: must be given, but for a pack'),
    ofPlan({ credits: 0 }, '0.credits: must be a whole number from 1'),
    ofPlan({ price: -1 }, '0.price: must be an amount of the currency'),
    ofPlan({ price: 9.999 }, '0.price: must be an amount of the currency'),
    ofPlan({ price: 9.5, currency: 'JPY' }, '0.price: must be an amount of the currency'),
    ofPlan({ currency: 'eur' }, '0.currency: must be the code of a currency'),
    ...[
      'http://a.test/',
      'javascript:alert(1)',
      'https://a:b@a.test/',
      'https://a.test/?client_reference_id=x',
    ].map((link) => ofPlan({ link }, '0.link: must be an https address without client_reference_id')),
    ofPlan({ interval: 'year' }, 'interval'),
    [{ plans: [plan, plan] }, 'plans: must have different ids'],
    [
      { plans: Array.from({ length: 21 }, (_, i) => ({ ...plan, id: `p${i}` })) },
      'plans: must be at most 20 plans',
    ],
    [{ billing: { eventBusName: 'default', prices: {} } }, 'billing.eventBusName'],
    ...[
      'rk_live_51abc',
      `${secretArn}stripe`,
      `${secretArn}*`,
      'arn:aws:ssm:eu-west-1:123456789012:p-AbC123',
    ].map((stripeKeySecretArn) =>
      ofBilling({ stripeKeySecretArn }, 'stripeKeySecretArn: must be the whole ARN'),
    ),
    ofBilling({ prices: { price_1: { tier: 'gold' } } }, 'prices.price_1.tier'),
    [
      { moderation: { prompt: { kind: 'http', url: 'http://a.test/', secretArn } } },
      "moderation.prompt.url: must be an https URL with a host's name; moderation.prompt.secretArn",
    ],
    [
      { moderation: { prompt: { kind: 'http', url: 'https://:word@a.test/', secretArn } } },
      'moderation.prompt.url: must hold no user or password',
    ],
    [
      { moderation: { prompt: { kind: 'bedrock', guardrailId: 'arn:x', guardrailVersion: '0' } } },
      'moderation.prompt.guardrailId: must be the ID of a guardrail',
    ],
    [{ stage: 'X', colour: 'red' }, '; there is no option colour'],
  ])('%j', (value, sentence) => {
    const message = messageOf(value);
    expect(message).toContain(sentence);
    expect(message).toMatch(/^The file x\.json can't be deployed: .*\.$/);
  });

  test('a deadline in which the largest order of a tier can’t be generated, by how much, and what helps', () => {
    const existing = { kind: 'existing', endpointName: 'painter', secondsPerMegapixel: 12 };
    expect(messageOf({ inference: existing })).toBe(
      "The file x.json can't be deployed: generationDeadlineSeconds: 60 s are 383 s too few: the largest order of Standard, " +
        'Pro, Enterprise (4 images of 2048 × 2048 px, 50 steps) takes about 443 s with inference.secondsPerMegapixel = 12. ' +
        'Raise it (270 at most), take faster instances, or sell less in shared/licenses/tiers.ts.',
    );
    const slow = { inference: { ...endpoint, secondsPerMegapixel: 7.3 } };
    expect(messageOf({ ...slow, generationDeadlineSeconds: 269 })).toContain(' 1 s too few');
    for (const fits of [
      { ...slow, generationDeadlineSeconds: 270 },
      { inference: { ...endpoint, secondsPerMegapixel: 1.6 } },
      { inference: endpoint },
    ]) {
      expect(readConfiguration(fits, 'The file')).toMatchObject({ inference: { kind: 'endpoint' } });
    }
  });

  test('instances whose GPUs would be idle: how many there are, how many are wasted, and what to do', () => {
    expect(messageOf({ inference: { ...endpoint, instanceType: 'ml.g5.12xlarge' } })).toBe(
      "The file x.json can't be deployed: inference.instanceType: ml.g5.12xlarge has 4 GPUs, and the model server generates " +
        'with one: 3 would be paid for and idle. Take a type with one GPU, and more instances (maxInstances).',
    );
  });
});

test.each([
  { instanceType: 'ml.g6e.16xlarge' },
  { instanceType: 'ml.g99.48xlarge' },
  {
    instanceType: 'ml.g5.12xlarge',
    image: { uri: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/painter:1' },
  },
  { instanceType: 'ml.g5.12xlarge', image: { folder: 'my-container' } },
  { instanceType: 'ml.g5.12xlarge', environment: { ENGINE: 'mine:Engine' } },
  { minInstances: 0, idleMinutes: 5 },
])('%j is taken: one GPU, unknown, or not this repository’s to judge', (changes) => {
  const { inference } = readConfiguration({ inference: { ...endpoint, ...changes } }, 'The file');
  expect(inference).toMatchObject({ idleMinutes: 15, ...changes });
});

test('the largest order is one that the contract takes, and the measured image is its default', () => {
  const body = { identityId: 'idn_1', prompt: 'x' };
  const stepsOf = (changes: object) =>
    createGenerationBody.safeParse({ ...body, ...changes }).data?.numInferenceSteps;
  expect([stepsOf({ numInferenceSteps: mostSteps }), stepsOf({ numInferenceSteps: mostSteps + 1 })]).toEqual([
    mostSteps,
    undefined,
  ]);
  expect(stepsOf({})).toBe(measuredSteps);
});

test('docs/deploying.md says what the deadlines need', () => {
  const page = readFileSync(new URL('../../docs/deploying.md', import.meta.url), 'utf8');
  const section = page.split('### Quick enough')[1]!.replaceAll(/\s+/g, ' ');
  const most = (deadline: number) => Math.floor((deadline / largestOrderSeconds(1)) * 100) / 100;
  expect(section).toContain(`about ${Math.round(largestOrderSeconds(1))} times as long`);
  expect(section).toContain(
    `60 seconds needs ${most(60)} s or less, the longest deadline of 270 seconds ${most(270)} s`,
  );
});

test('a file that is not there, or is not JSON, is named', () => {
  expect(() => readConfigurationFile('/nowhere/x.json')).toThrow("/nowhere/x.json can't be read");
  expect(() => readConfigurationFile(import.meta.filename)).toThrow('not valid JSON');
});

test('no model of the model server takes longer for the largest order than the stack estimates', () => {
  const numberOf = (pipeline: string, name: string): number => {
    const file = new URL(`../../inference/model_server/pipelines/${pipeline}.py`, import.meta.url);
    const [, number] = new RegExp(`^ *${name} = ([\\d.]+)$`, 'm').exec(readFileSync(file, 'utf8'))!;
    return Number(number);
  };
  // The text of FLUX.2 [klein] counts as pixels, in squares of 16.
  const kleinsText = (numberOf('flux2_klein', '_LONGEST') * 16 ** 2) / 1e6;
  const models = { sdxl: 0, z_image: 0, flux2_klein: kleinsText };
  const timesAsLong = Object.entries(models).map(([pipeline, textMegapixels]) => {
    const attention = numberOf(pipeline, 'attention_per_megapixel');
    const sizeOf = (sidePx: number) => {
      const megapixels = sidePx ** 2 / 1e6 + textMegapixels;
      return megapixels + attention * megapixels ** 2;
    };
    return (4 * mostSteps * sizeOf(2048)) / (measuredSteps * sizeOf(1024));
  });
  expect(largestOrderSeconds(1)).toBeCloseTo(Math.max(...timesAsLong), 10);
});
