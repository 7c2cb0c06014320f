import { expect, test } from '@jest/globals';
import { noModelEndpoint, isCallback, readEnvironment } from '../../../shared/base/config.ts';

test('a setting that is no text is read from the text of its variable', () => {
  const env = readEnvironment({
    GENERATION_DEADLINE_SECONDS: '450',
    RETENTION_DAYS: '90',
    EMBED_PARAMETERS: 'true',
    BILLING_LIVEMODE: 'false',
    MODEL_NAMES: '{"gpt-image-1":"aurora"}',
    ALLOWED_ORIGINS: 'https://a.test,b',
    MAIL_FROM: 'a@b.test',
    DASHBOARD_URL: 'https://d.test/',
    BILLING_PORTAL_URL: 'https://p.test/',
    SUPPORT_CONTACT: 'help@b.test',
    SESSION_ISSUER: 'https://pool',
    SESSION_JWKS_URL: 'https://pool/keys',
    SESSION_CLIENT_ID: 'c',
  });
  const links = { dashboardUrl: 'https://d.test/', billingPortalUrl: 'https://p.test/' };
  expect(env).toMatchObject({
    generationDeadlineSeconds: 450,
    retentionDays: 90,
    embedParameters: true,
    billingLivemode: false,
    modelNames: { 'gpt-image-1': 'aurora' },
    allowedOrigins: ['https://a.test', 'b'],
    supportContact: 'help@b.test',
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
