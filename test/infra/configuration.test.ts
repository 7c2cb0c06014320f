import { describe, expect, test } from '@jest/globals';
import {
  configuration,
  ConfigurationError,
  readConfiguration,
  readConfigurationFile,
} from '../../lib/configuration.ts';
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
    generationDeadlineSeconds: 60,
    domain: null,
    billing: null,
  });
});

describe('what is wrong is named, all of it at once', () => {
  test.each([
    [{ stagename: 'x' }, 'there is no option stagename'],
    [{ inference: { kind: 'gpu' } }, 'inference'],
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
      { inference: { kind: 'endpoint', modelData: 's3://bucket/p/', amiVersion: 'CUDA 13' } },
      'inference.amiVersion: must be',
    ],
    [{ stage: 'Prod' }, 'stage: must be'],
    [{ retentionDays: 0 }, 'retentionDays'],
    [{ generationDeadlineSeconds: 271 }, 'generationDeadlineSeconds'],
    [{ alarmEmail: 'nobody' }, 'alarmEmail: must be an e-mail address'],
    [{ allowedOrigins: ['https://a.test/'] }, 'allowedOrigins.0: must be an origin'],
    [{ domain: { apiName: 'api.example.com' } }, 'domain.apiCertificateArn'],
    [
      { domain: { ...everything.domain, dashboardCertificateArn: everything.domain!.apiCertificateArn } },
      'domain.dashboardCertificateArn: must be a certificate in us-east-1',
    ],
    [{ billing: { eventBusName: 'default', prices: {} } }, 'billing.eventBusName'],
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

  test('two mistakes make one sentence', () => {
    expect(messageOf({ stage: 'X', colour: 'red' })).toMatch(/stage: .*; there is no option colour/);
  });
});

test('a file that is not there, or is not JSON, is named', () => {
  expect(() => readConfigurationFile('/nowhere/x.json')).toThrow("/nowhere/x.json can't be read");
  expect(() => readConfigurationFile(new URL('configuration.test.ts', import.meta.url).pathname)).toThrow(
    'not valid JSON',
  );
});

test('no option is without a default, so that one that is added does not break a deployment', () => {
  for (const [name, option] of Object.entries(configuration.shape)) {
    expect({ name, taken: option.safeParse(undefined).success }).toEqual({ name, taken: true });
  }
});
