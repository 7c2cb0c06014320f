import { expect, test } from '@jest/globals';
import { noModelEndpoint, isCallback, readEnvironment } from '../../../shared/base/config.ts';

/** Each variable that is one setting by itself, and what it says where that is not its text. */
const single: [variable: string, text: string, setting: string, value?: unknown][] = [
  ['SERVICE_NAME', 'service', 'serviceName'],
  ['TABLE_NAME', 't', 'tableName'],
  ['BUCKET_NAME', 'b', 'bucketName'],
  ['MODEL_ENDPOINT_NAME', 'm', 'modelEndpointName'],
  ['MODEL_COMPONENT_NAME', 'c', 'modelComponentName'],
  ['AWS_ENDPOINT_URL_SAGEMAKER', 'http://127.0.0.1:9', 'sageMakerUrl'],
  ['REFERENCE_FETCHER_URL', 'https://lambda.test/f', 'referenceFetcherUrl'],
  ['GENERATION_WORKER_URL', 'https://lambda.test/w', 'generationWorkerUrl'],
  ['GENERATION_DEADLINE_SECONDS', '450', 'generationDeadlineSeconds', 450],
  ['ASYNC_DEADLINE_SECONDS', '840', 'asyncDeadlineSeconds', 840],
  ['RETENTION_DAYS', '90', 'retentionDays', 90],
  ['EMBED_PARAMETERS', 'true', 'embedParameters', true],
  ['PREVIEW_ROLE_ARN', 'arn:aws:iam::1:role/r', 'previewRoleArn'],
  ['AWS_ENDPOINT_URL_STS', 'http://127.0.0.1:8', 'stsUrl'],
  ['USER_POOL_ID', 'eu-west-1_a', 'userPoolId'],
  ['AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER', 'http://127.0.0.1:7', 'cognitoUrl'],
  ['SUPPORT_CONTACT', 'help@b.test', 'supportContact'],
  ['AWS_ENDPOINT_URL_SESV2', 'http://127.0.0.1:6', 'sesUrl'],
  ['MODEL_NAMES', '{"gpt-image-1":"aurora"}', 'modelNames', { 'gpt-image-1': 'aurora' }],
  ['ALLOWED_ORIGINS', 'https://a.test,b', 'allowedOrigins', ['https://a.test', 'b']],
  ['BILLING_PRICES_FILE', '/var/task/prices.json', 'billingPricesFile'],
  ['BILLING_LIVEMODE', 'true', 'billingLivemode', true],
  ['PAST_DUE_GRACE_DAYS', '7', 'pastDueGraceDays', 7],
  ['STRIPE_KEY_SECRET_ARN', 'arn:s', 'stripeKeySecretArn'],
  ['AWS_ENDPOINT_URL_SECRETS_MANAGER', 'http://127.0.0.1:5', 'secretsManagerUrl'],
  ['STRIPE_API_URL', 'http://127.0.0.1:4', 'stripeUrl'],
];

test('a function has what its environment says', () => {
  const env = readEnvironment({
    ...Object.fromEntries(single.map(([variable, text]) => [variable, text])),
    MAIL_FROM: 'a@b.test',
    DASHBOARD_URL: 'https://d.test/',
    BILLING_PORTAL_URL: 'https://p.test/',
    SESSION_ISSUER: 'https://pool',
    SESSION_JWKS_URL: 'https://pool/keys',
    SESSION_CLIENT_ID: 'c',
  });
  const links = { dashboardUrl: 'https://d.test/', billingPortalUrl: 'https://p.test/' };
  expect({ ...env }).toEqual({
    ...Object.fromEntries(single.map(([, text, setting, value]) => [setting, value ?? text])),
    mail: { from: 'a@b.test', ...links, supportContact: 'help@b.test' },
    session: { issuer: 'https://pool', jwksUrl: 'https://pool/keys', clientId: 'c' },
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

test.each([
  ['GENERATION_DEADLINE_SECONDS', 'generationDeadlineSeconds', '0'],
  ['GENERATION_DEADLINE_SECONDS', 'generationDeadlineSeconds', '1.5'],
  ['GENERATION_DEADLINE_SECONDS', 'generationDeadlineSeconds', '451'],
  // A run that nobody waits for ends before Lambda would end it.
  ['ASYNC_DEADLINE_SECONDS', 'asyncDeadlineSeconds', '841'],
  ['BILLING_LIVEMODE', 'billingLivemode', 'no'],
] as const)('the variable %s, read as %s, is refused by name where it is %s', (variable, setting, value) => {
  expect(() => readEnvironment({ [variable]: value })[setting]).toThrow(variable);
});

test('a variable that is true or false is read so', () => {
  expect(readEnvironment({ BILLING_LIVEMODE: 'false' }).billingLivemode).toBe(false);
});

test('a deployment without a model says so in a word that is no name of an endpoint', () => {
  expect(readEnvironment({ MODEL_ENDPOINT_NAME: noModelEndpoint }).modelEndpointName).toBeNull();
  expect(noModelEndpoint).not.toMatch(/^[A-Za-z0-9-]+$/);
});

test('a model without a component never scales to zero', () => {
  expect(readEnvironment({}).modelComponentName).toBeNull();
  expect(readEnvironment({ MODEL_COMPONENT_NAME: '' }).modelComponentName).toBeNull();
  expect(readEnvironment({}).sageMakerUrl).toBeNull();
});

test('what says only how a function is measured, who else may ask it, or what files hold, may be left out', () => {
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
