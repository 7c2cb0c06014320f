import { expect, test } from '@jest/globals';
import { noModelEndpoint, isCallback, readEnvironment } from '../../../shared/base/config.ts';

test('a function is told what its environment says', () => {
  const env = readEnvironment({
    SERVICE_NAME: 'service',
    TABLE_NAME: 't',
    BUCKET_NAME: 'b',
    MODEL_ENDPOINT_NAME: 'm',
    MODEL_COMPONENT_NAME: 'c',
    AWS_ENDPOINT_URL_SAGEMAKER: 'http://127.0.0.1:9',
    REFERENCE_FETCHER_URL: 'https://lambda.test/f',
    GENERATION_WORKER_URL: 'https://lambda.test/w',
    GENERATION_DEADLINE_SECONDS: '450',
    ASYNC_DEADLINE_SECONDS: '840',
    RETENTION_DAYS: '90',
    EMBED_PARAMETERS: 'true',
    PREVIEW_ROLE_ARN: 'arn:aws:iam::1:role/r',
    AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:8',
    USER_POOL_ID: 'eu-west-1_a',
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: 'http://127.0.0.1:7',
    MAIL_FROM: 'a@b.test',
    AWS_ENDPOINT_URL_SESV2: 'http://127.0.0.1:6',
    DASHBOARD_URL: 'https://d.test/',
    BILLING_PORTAL_URL: 'https://p.test/',
    SUPPORT_CONTACT: 'help@b.test',
    SESSION_ISSUER: 'https://pool',
    SESSION_JWKS_URL: 'https://pool/keys',
    SESSION_CLIENT_ID: 'c',
    MODEL_NAMES: '{"gpt-image-1":"aurora"}',
    ALLOWED_ORIGINS: 'https://a.test,https://b.test',
    BILLING_PRICES_FILE: '/var/task/prices.json',
    BILLING_LIVEMODE: 'true',
    PAST_DUE_GRACE_DAYS: '7',
    STRIPE_KEY_SECRET_ARN: 'arn:s',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:5',
    STRIPE_API_URL: 'http://127.0.0.1:4',
  });
  expect({ ...env }).toEqual({
    serviceName: 'service',
    tableName: 't',
    bucketName: 'b',
    modelEndpointName: 'm',
    modelComponentName: 'c',
    sageMakerUrl: 'http://127.0.0.1:9',
    referenceFetcherUrl: 'https://lambda.test/f',
    generationWorkerUrl: 'https://lambda.test/w',
    generationDeadlineSeconds: 450,
    asyncDeadlineSeconds: 840,
    retentionDays: 90,
    embedParameters: true,
    previewRoleArn: 'arn:aws:iam::1:role/r',
    stsUrl: 'http://127.0.0.1:8',
    userPoolId: 'eu-west-1_a',
    cognitoUrl: 'http://127.0.0.1:7',
    supportContact: 'help@b.test',
    sesUrl: 'http://127.0.0.1:6',
    mail: {
      from: 'a@b.test',
      dashboardUrl: 'https://d.test/',
      billingPortalUrl: 'https://p.test/',
      supportContact: 'help@b.test',
    },
    session: { issuer: 'https://pool', jwksUrl: 'https://pool/keys', clientId: 'c' },
    modelNames: { 'gpt-image-1': 'aurora' },
    allowedOrigins: ['https://a.test', 'https://b.test'],
    billingPricesFile: '/var/task/prices.json',
    billingLivemode: true,
    pastDueGraceDays: 7,
    stripeKeySecretArn: 'arn:s',
    secretsManagerUrl: 'http://127.0.0.1:5',
    stripeUrl: 'http://127.0.0.1:4',
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

test('a run that nobody waits for ends before Lambda would end it', () => {
  expect(() => readEnvironment({ ASYNC_DEADLINE_SECONDS: '841' }).asyncDeadlineSeconds).toThrow('1 to 840');
});

test('whether real billing events count is said in one of two words', () => {
  expect(readEnvironment({ BILLING_LIVEMODE: 'false' }).billingLivemode).toBe(false);
  const env = readEnvironment({ BILLING_LIVEMODE: 'no' });
  expect(() => env.billingLivemode).toThrow('BILLING_LIVEMODE must be true or false, not no');
});

test('a deployment without a model says so in a word that is no name of an endpoint', () => {
  expect(readEnvironment({ MODEL_ENDPOINT_NAME: noModelEndpoint }).modelEndpointName).toBeNull();
  expect(noModelEndpoint).not.toMatch(/^[A-Za-z0-9-]+$/);
});

test('a model without a component never sleeps', () => {
  expect(readEnvironment({}).modelComponentName).toBeNull();
  expect(readEnvironment({ MODEL_COMPONENT_NAME: '' }).modelComponentName).toBeNull();
  expect(readEnvironment({}).sageMakerUrl).toBeNull();
});

test('what only tells how a function is measured, who else may ask it, or what files tell, may be left out', () => {
  expect(readEnvironment({}).serviceName).toBe('unnamed');
  expect(readEnvironment({}).allowedOrigins).toEqual([]);
  expect(readEnvironment({}).embedParameters).toBe(false);
});

test('a sign-in may return to what Cognito takes, and to nothing else', () => {
  const taken =
    'https://a.test https://a.test:8443/b/c?d=e&f http://localhost http://localhost:8080/login/oauth2/code/images ' +
    'http://127.0.0.1:80/ http://[::1]:3000/back myapp://example com.example.app:/back';
  const refused =
    'http://a.test/back http://localhost.a.test/ http://localhost:80@a.test/ http://localhost:65536/ https://a.test/#b ' +
    'https:/// https:/a.test https://a.test/\\b HTTPS://a.test javascript://a.test/%0aalert(1) data:/a /back myapp https://a;b/';
  const all = [...taken.split(' '), ...refused.split(' '), '', 'https://a.test/ b'];
  expect(all.filter(isCallback)).toEqual(taken.split(' '));
});
