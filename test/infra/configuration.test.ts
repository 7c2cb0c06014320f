import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  configuration,
  ConfigurationError,
  readConfiguration,
  readConfigurationFile,
} from '../../lib/configuration.ts';
import { largestOrderSeconds, measuredSteps, mostSteps } from '../../lib/generation-time.ts';
import { gpusOfTypes } from '../../lib/gpus.ts';
import { createGenerationBody } from '../../shared/generations/contract.ts';
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

test('nothing at all deploys: every option has a default', () => {
  expect(readConfiguration({}, '')).toEqual(readConfiguration(undefined, ''));
  expect(readConfiguration({}, '')).toMatchObject({
    stage: 'prod',
    inference: { kind: 'none' },
    retentionDays: 90,
    embedParameters: false,
    generationDeadlineSeconds: 60,
    domain: null,
    billing: null,
    mail: null,
    billingPortalUrl: null,
    supportContact: null,
  });
});

describe('what is wrong is named, all of it at once', () => {
  test.each([
    [{ stagename: 'x' }, 'there is no option stagename'],
    [{ inference: { kind: 'gpu' } }, 'inference'],
    [{ modelNames: { 'gpt image': 'a' } }, 'modelNames.gpt image: '],
    [{ modelNames: { 'gpt-image-1': 'no/id' } }, 'modelNames.gpt-image-1: must be the id or slug'],
    [{ modelNames: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, 'a'])) }, 'at most 20 names'],
    [{ inference: { kind: 'endpoint' } }, 'inference.modelData'],
    [
      { inference: { kind: 'endpoint', modelData: 's3://bucket/prefix' } },
      'inference.modelData: must be an S3 prefix',
    ],
    [
      { inference: { kind: 'endpoint', modelData: 's3://bucket/p/', minInstances: 3, maxInstances: 2 } },
      'inference.minInstances: must be at most maxInstances',
    ],
    [
      { inference: { kind: 'endpoint', modelData: 's3://bucket/p/', minInstances: 0, maxInstances: 0 } },
      'inference.maxInstances',
    ],
    [
      { inference: { kind: 'endpoint', modelData: 's3://bucket/p/', idleMinutes: 30 } },
      'inference.idleMinutes: has a meaning only with minInstances 0: with more, the endpoint never sleeps',
    ],
    [
      { inference: { kind: 'endpoint', modelData: 's3://bucket/p/', minInstances: 0, idleMinutes: 4 } },
      'inference.idleMinutes: Too small',
    ],
    [
      {
        inference: {
          kind: 'endpoint',
          modelData: 's3://bucket/p/',
          minInstances: 0,
          instanceType: 'ml.c7i.xlarge',
        },
      },
      'inference.minInstances: may be 0 only with instances that have a GPU',
    ],
    [
      { inference: { kind: 'endpoint', modelData: 's3://bucket/p/', amiVersion: 'CUDA 13' } },
      'inference.amiVersion: must be',
    ],
    [
      {
        inference: {
          kind: 'endpoint',
          modelData: 's3://bucket/p/',
          environment: { C2PA_PRIVATE_KEY: '-----BEGIN PRIVATE KEY-----' },
        },
      },
      'inference.environment: must not hold a private key',
    ],
    [{ stage: 'Prod' }, 'stage: must be'],
    [{ retentionDays: 0 }, 'retentionDays'],
    [{ generationDeadlineSeconds: 271 }, 'generationDeadlineSeconds'],
    [{ alarmEmail: 'nobody' }, 'alarmEmail: must be an e-mail address'],
    [{ allowedOrigins: ['https://a.test/'] }, 'allowedOrigins.0: must be an origin'],
    [{ allowedCallbacks: ['http://a.test/'] }, 'allowedCallbacks.0: must be an https address'],
    [{ domain: { apiName: 'api.example.com' } }, 'domain.apiCertificateArn'],
    [
      { domain: { ...everything.domain, dashboardCertificateArn: everything.domain!.apiCertificateArn } },
      'domain.dashboardCertificateArn: must be a certificate in us-east-1',
    ],
    [{ mail: { from: 'nobody' } }, 'mail.from: must be an e-mail address'],
    [{ billingPortalUrl: 'http://billing.example.com' }, 'billingPortalUrl: must be an https URL'],
    [
      { supportContact: 'javascript:alert(1)' },
      'supportContact: must be an e-mail address, or must be an https URL',
    ],
    ...['https://a.test/x\ny: z', 'https://a.test/(b)', 'https://a.test/ä', 'https://a.test/b\\c'].map(
      (supportContact): [object, string] => [{ supportContact }, 'supportContact: must be ASCII'],
    ),
    [{ billing: { eventBusName: 'default', prices: {} } }, 'billing.eventBusName'],
    ...[
      'rk_live_51abc',
      'arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe',
      'arn:aws:secretsmanager:eu-west-1:123456789012:secret:*',
      'arn:aws:ssm:eu-west-1:123456789012:parameter/stripe-AbC123',
    ].map((stripeKeySecretArn): [object, string] => [
      { billing: { ...everything.billing, stripeKeySecretArn } },
      'billing.stripeKeySecretArn: must be the whole ARN',
    ]),
    [
      { billing: { ...everything.billing, prices: { price_1: { tier: 'gold' } } } },
      'billing.prices.price_1.tier',
    ],
    [{ logRetentionDays: 2 }, 'logRetentionDays'],
    [[], 'the whole'],
  ])('%j', (value, sentence) => {
    const message = messageOf(value);
    expect(message).toContain(sentence);
    expect(message).toMatch(/^The file x\.json can't be deployed: .*\.$/);
  });

  test('a deadline in which the largest order of a tier can’t be painted, by how much, and what helps', () => {
    const existing = { kind: 'existing', endpointName: 'painter', secondsPerMegapixel: 12 };
    expect(messageOf({ inference: existing })).toBe(
      "The file x.json can't be deployed: generationDeadlineSeconds: 60 s are 383 s too few: the largest order of Standard, " +
        'Pro, Enterprise (4 images of 2048 × 2048 px, 50 steps) takes about 443 s with inference.secondsPerMegapixel = 12. ' +
        'Raise it (270 at most), take faster instances, or sell less in shared/licenses/tiers.ts.',
    );
    const endpoint = { kind: 'endpoint', modelData: 's3://bucket/p/', secondsPerMegapixel: 7.3 };
    expect(messageOf({ inference: endpoint, generationDeadlineSeconds: 269 })).toContain(' 1 s too few');
    for (const fits of [
      { inference: endpoint, generationDeadlineSeconds: 270 },
      { inference: { ...endpoint, secondsPerMegapixel: 1.6 } },
      { inference: { ...endpoint, secondsPerMegapixel: undefined } },
    ]) {
      expect(readConfiguration(fits, 'The file')).toMatchObject({ inference: { kind: 'endpoint' } });
    }
  });

  describe('instances whose GPUs would be idle', () => {
    const endpoint = { kind: 'endpoint', modelData: 's3://bucket/p/' };

    test('the sentence says how many there are, how many are wasted, and what to do', () => {
      expect(messageOf({ inference: { ...endpoint, instanceType: 'ml.g5.12xlarge' } })).toBe(
        "The file x.json can't be deployed: inference.instanceType: ml.g5.12xlarge has 4 GPUs, and the model server paints " +
          'with one: 3 would be paid for and idle. Take a type with one GPU, and more instances (maxInstances).',
      );
      for (const instanceType of Object.keys(gpusOfTypes)) {
        expect(messageOf({ inference: { ...endpoint, instanceType } })).toContain(`${instanceType} has `);
      }
    });

    test.each([
      { instanceType: 'ml.g6e.16xlarge' },
      { instanceType: 'ml.p5.4xlarge' },
      { instanceType: 'ml.g99.48xlarge' },
      {
        instanceType: 'ml.g5.12xlarge',
        image: { uri: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/painter:1' },
      },
      { instanceType: 'ml.g5.12xlarge', image: { folder: 'my-container' } },
      { instanceType: 'ml.g5.12xlarge', environment: { ENGINE: 'mine:Engine' } },
    ])('%j is one GPU, unknown, or not this repository’s to judge', (changes) => {
      expect(
        readConfiguration({ inference: { ...endpoint, ...changes } }, 'The file').inference,
      ).toMatchObject(changes);
    });
  });

  test('an endpoint that sleeps does so after a quarter of an hour, or after as long as is chosen', () => {
    const endpoint = { kind: 'endpoint', modelData: 's3://bucket/p/', minInstances: 0 };
    expect(readConfiguration({ inference: endpoint }, '').inference).toMatchObject({ idleMinutes: 15 });
    expect(readConfiguration({ inference: { ...endpoint, idleMinutes: 5 } }, '').inference).toMatchObject({
      idleMinutes: 5,
    });
  });

  test('two mistakes make one sentence', () => {
    expect(messageOf({ stage: 'X', colour: 'red' })).toMatch(/stage: .*; there is no option colour/);
  });
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

test('no option is without a default, so that one that is added does not break a deployment', () => {
  for (const [name, option] of Object.entries(configuration.shape)) {
    expect({ name, taken: option.safeParse(undefined).success }).toEqual({ name, taken: true });
  }
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
    const attention = numberOf(pipeline, 'attention');
    const sizeOf = (sidePx: number) => {
      const megapixels = sidePx ** 2 / 1e6 + textMegapixels;
      return megapixels + attention * megapixels ** 2;
    };
    return (4 * mostSteps * sizeOf(2048)) / (measuredSteps * sizeOf(1024));
  });
  expect(largestOrderSeconds(1)).toBeCloseTo(Math.max(...timesAsLong), 10);
});
