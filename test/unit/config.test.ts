import { expect, test } from '@jest/globals';
import { noModelEndpoint, readEnvironment } from '../../shared/config.ts';

test('a function is told what its environment says', () => {
  const env = readEnvironment({
    SERVICE_NAME: 'service',
    TABLE_NAME: 't',
    BUCKET_NAME: 'b',
    MODEL_ENDPOINT_NAME: 'm',
    REFERENCE_FETCHER_URL: 'https://lambda.test/f',
    GENERATION_DEADLINE_SECONDS: '450',
    RETENTION_DAYS: '90',
    SESSION_ISSUER: 'https://pool',
    SESSION_JWKS_URL: 'https://pool/keys',
    SESSION_CLIENT_ID: 'c',
    ALLOWED_ORIGINS: 'https://a.test,https://b.test',
    BILLING_PRICES_FILE: '/var/task/prices.json',
  });
  expect({ ...env }).toEqual({
    serviceName: 'service',
    tableName: 't',
    bucketName: 'b',
    modelEndpointName: 'm',
    referenceFetcherUrl: 'https://lambda.test/f',
    generationDeadlineSeconds: 450,
    retentionDays: 90,
    session: { issuer: 'https://pool', jwksUrl: 'https://pool/keys', clientId: 'c' },
    allowedOrigins: ['https://a.test', 'https://b.test'],
    billingPricesFile: '/var/task/prices.json',
  });
});

test('a function needs only the variables that it asks for, and a missing one is named', () => {
  const env = readEnvironment({ TABLE_NAME: 't', BUCKET_NAME: '' });
  expect(env.tableName).toBe('t');
  expect(() => env.bucketName).toThrow('BUCKET_NAME');
  expect(() => env.modelEndpointName).toThrow('MODEL_ENDPOINT_NAME');
  expect(() => env.retentionDays).toThrow('RETENTION_DAYS');
  expect(() => env.session).toThrow('SESSION_ISSUER');
});

test.each(['0', '-1', '1.5', 'many', 'NaN', 'Infinity', '451'])(
  'a deadline of %j seconds is refused',
  (value) => {
    const env = readEnvironment({ GENERATION_DEADLINE_SECONDS: value });
    expect(() => env.generationDeadlineSeconds).toThrow('GENERATION_DEADLINE_SECONDS');
  },
);

test('a deployment without a model says so in a word that is no name of an endpoint', () => {
  expect(readEnvironment({ MODEL_ENDPOINT_NAME: noModelEndpoint }).modelEndpointName).toBeNull();
  expect(noModelEndpoint).not.toMatch(/^[A-Za-z0-9-]+$/);
});

test('what only tells how a function is measured, or who else may ask it, may be left out', () => {
  expect(readEnvironment({}).serviceName).toBe('unnamed');
  expect(readEnvironment({}).allowedOrigins).toEqual([]);
});
