import { describe, expect, test } from '@jest/globals';
import { send } from '../../../bin/smoke/answers.ts';
import { checks } from '../../../bin/smoke/checks.ts';
import { startFront } from '../../support/smoke.ts';

test('an address that does not answer is not told, as it may be a link', async () => {
  const sent = send('http://127.0.0.1:1/image.png?X-Amz-Signature=secret', 'the link');
  await expect(sent).rejects.toThrow(/^there was no answer \([\w ]+\)$/);
});

const checkNamed = (words: string) => checks.find(({ name }) => name.includes(words))!;
const answersPreflight = checkNamed('CORS preflight');
const agreesOnSignIn = checkNamed('the user pool agree');

describe('what only AWS answers', () => {
  /** A place whose dashboard, API and pool are all played by one front. */
  function fixtureOf(url: string, issuer = `${url}/pool`) {
    const place = {
      name: 'a stack',
      localFolder: null,
      baseUrl: `${url}/api/v1`,
      dashboardUrl: `${url}/`,
      signIn: { issuer, domainUrl: `${url}/sign-in` },
    };
    return { place } as unknown as Parameters<typeof agreesOnSignIn.run>[0];
  }

  const outcomeOf = (check: Promise<void>): Promise<string> =>
    check.then(
      () => 'passed',
      (error: Error) => error.message,
    );

  async function answered(
    bodies: Record<string, unknown>,
    check: (url: string) => Promise<void>,
  ): Promise<string> {
    const front = await startFront((req, res) => {
      const url = `http://${req.headers.host}`;
      const body = JSON.stringify(bodies[req.url!] ?? {}).replaceAll('$URL', url);
      res.writeHead(bodies[req.url!] ? 200 : 404, { 'content-type': 'application/json' }).end(body);
      return true;
    });
    return outcomeOf(check(front.url)).finally(() => front.close());
  }

  const config = {
    apiBaseUrl: '$URL/api/v1',
    retentionDays: 30,
    creditMails: false,
    billingPortalUrl: null,
    supportContact: null,
    signIn: { issuer: '$URL/pool', clientId: 'app', domainUrl: '$URL/sign-in' },
  };
  const discovery = { issuer: '$URL/pool', authorization_endpoint: '$URL/sign-in/oauth2/authorize' };
  const discoveryPath = '/pool/.well-known/openid-configuration';
  const signIn = (url: string) => agreesOnSignIn.run(fixtureOf(url));

  test('a dashboard and a pool that agree pass, and each disagreement is named', async () => {
    const whole = { '/config.json': config, [discoveryPath]: discovery };
    expect(await answered(whole, signIn)).toBe('passed');
    const otherPool = { ...config, signIn: { ...config.signIn, issuer: '$URL/other' } };
    expect(await answered({ ...whole, '/config.json': otherPool }, signIn)).toBe(
      'wrong in the answer: issuer',
    );
    const elsewhere = { ...discovery, authorization_endpoint: '$URL/elsewhere' };
    const named = await answered({ ...whole, [discoveryPath]: elsewhere }, signIn);
    expect(named).toBe('the pool signs in at another address');
    expect(await answered({ '/config.json': config }, signIn)).toContain('answered 404');
  });

  test("a preflight must allow the dashboard's origin, POST, and every header that it sends", async () => {
    const preflight = async (headers: Record<string, string>) => {
      const front = await startFront((req, res) => {
        const named = Object.entries(headers).map(([name, value]) => [
          name,
          value.replace('$ORIGIN', req.headers.origin!),
        ]);
        res.writeHead(204, Object.fromEntries(named)).end();
        return true;
      });
      return outcomeOf(answersPreflight.run(fixtureOf(front.url))).finally(() => front.close());
    };
    const whole = {
      'access-control-allow-origin': '$ORIGIN',
      'access-control-allow-methods': 'POST,OPTIONS',
      'access-control-allow-headers':
        'Authorization,Content-Type,Idempotency-Key,If-None-Match,MCP-Method,MCP-Name,MCP-Protocol-Version,Prefer',
    };
    expect(await preflight(whole)).toBe('passed');
    expect(await preflight({ ...whole, 'access-control-allow-origin': 'https://other.test' })).toContain(
      'is not allowed',
    );
    expect(await preflight({ ...whole, 'access-control-allow-methods': 'GET' })).toBe('POST is not allowed');
    expect(await preflight({ ...whole, 'access-control-allow-headers': 'authorization' })).toBe(
      'these headers are not allowed: content-type, idempotency-key, if-none-match, mcp-method, mcp-name, mcp-protocol-version, prefer',
    );
  });
});
