import { expect, test } from '@jest/globals';
import { send } from '../../../bin/smoke/http.ts';
import { checks } from '../../../bin/smoke/checks.ts';
import { startFront } from '../../support/smoke.ts';

test('an address that does not answer is not printed, as it may be a link', async () => {
  const sent = send('http://127.0.0.1:1/image.png?X-Amz-Signature=secret', 'the link');
  await expect(sent).rejects.toThrow(/^there was no answer \([\w ]+\)$/);
});

/** What a check of `npm run smoke` finds at a place whose dashboard, API and pool are all one front: answers by their paths. */
async function found(
  check: string,
  answers: Record<string, { headers?: object; body?: object }>,
): Promise<string> {
  const front = await startFront((req, res) => {
    const answer = answers[req.url!];
    const filled = JSON.stringify(answer ?? {})
      .replaceAll('$URL', `http://${req.headers.host}`)
      .replaceAll('$ORIGIN', req.headers.origin ?? '');
    const { headers = {}, body = {} } = JSON.parse(filled);
    res.writeHead(answer ? 200 : 404, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(body));
    return true;
  });
  const { url } = front;
  const signIn = { issuer: `${url}/pool`, domainUrl: `${url}/sign-in` };
  const place = {
    name: 'a stack',
    localFolder: null,
    baseUrl: `${url}/api/v1`,
    dashboardUrl: `${url}/`,
    signIn,
  };
  const { run } = checks.find(({ name }) => name.includes(check))!;
  const outcome = run({ place } as Parameters<typeof run>[0]).then(
    () => 'passed',
    (error: Error) => error.message,
  );
  return outcome.finally(() => front.close());
}

const signIn = { issuer: '$URL/pool', clientId: 'app', domainUrl: '$URL/sign-in', userPoolsUrl: '$URL/' };
const contacts = { creditMails: false, billingPortalUrl: null, supportContact: null };
const config = {
  apiBaseUrl: '$URL/api/v1',
  retentionDays: 30,
  mfa: 'optional',
  plans: [],
  signIn,
  ...contacts,
};
const discovery = { issuer: '$URL/pool', authorization_endpoint: '$URL/sign-in/oauth2/authorize' };

test.each<[string, object, object | null, string]>([
  ['that agree pass', config, discovery, 'passed'],
  [
    'of two issuers',
    { ...config, signIn: { ...signIn, issuer: '$URL/x' } },
    discovery,
    'wrong in the answer: issuer',
  ],
  [
    'of two addresses',
    config,
    { ...discovery, authorization_endpoint: '$URL/x' },
    'wrong in the answer: authorization_endpoint',
  ],
  ['of which one is missing', config, null, "the pool's discovery document answered 404"],
])('a dashboard and a pool %s', async (_, ofDashboard, ofPool, outcome) => {
  const answers = { '/config.json': { body: ofDashboard } };
  const pool = ofPool && { '/pool/.well-known/openid-configuration': { body: ofPool } };
  expect(await found('the user pool agree', { ...answers, ...pool })).toBe(outcome);
});

const names =
  'Authorization,Content-Type,Idempotency-Key,If-None-Match,MCP-Method,MCP-Name,MCP-Protocol-Version,Prefer,traceparent,tracestate';
const missing = names.toLowerCase().split(',').slice(1).join(', ');

test.each([
  ['all that is needed passes', {}, /^passed$/],
  ['another origin is named', { origin: 'https://other.test' }, /^http.* is not allowed$/],
  ['no POST is named', { methods: 'GET' }, /^POST is not allowed$/],
  [
    'one header names the others',
    { headers: 'authorization' },
    RegExp(`^these headers are not allowed: ${missing}$`),
  ],
])('a preflight that allows: %s', async (_, changes, outcome) => {
  const allowed = { origin: '$ORIGIN', methods: 'POST,OPTIONS', headers: names, ...changes };
  const named = Object.entries(allowed).map(([what, value]) => [`access-control-allow-${what}`, value]);
  const answers = { '/api/v1/playground/generate': { headers: Object.fromEntries(named) } };
  expect(await found('CORS preflight', answers)).toMatch(outcome);
});
