import { cors } from '../../../shared/routes/api.ts';
import { described, send } from '../http.ts';
import { must, mustEqual, mustHaveMembers } from '../mismatch.ts';
import type { Step } from '../step.ts';

export const isHealthy: Step = {
  name: 'the API is up, and so is its model if it has one',
  async run({ place }) {
    const answer = await send(`${place.baseUrl}/health`);
    must(answer.status === 200, `GET /health answered ${described(answer)}`);
    const inference = place.hasModel ? 'up' : 'down';
    mustHaveMembers(answer.json, ['status', 'api', 'inference', 'model', 'modelReadyInSeconds']);
    mustEqual(answer.json, { api: 'up', inference, status: place.hasModel ? 'ok' : 'degraded' });
    // One that may sleep need not be ready.
    must((answer.json.model === 'unavailable') !== place.hasModel, `the model is ${answer.json.model}`);
  },
};

export const answersPreflight: Step = {
  name: "the dashboard's pages may call the API (CORS preflight)",
  skip: ({ place }) => (place.localFolder === null ? null : 'locally both have one origin'),
  async run({ place }) {
    const { origin } = new URL(place.dashboardUrl);
    const { status, headers } = await send(`${place.baseUrl}/playground/generate`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': cors.requestHeaders.join(','),
      },
    });
    must(status === 200 || status === 204, `OPTIONS answered ${status}`);
    must(headers.get('access-control-allow-origin') === origin, `${origin} is not allowed`);
    must(listed(headers, 'access-control-allow-methods').includes('post'), 'POST is not allowed');
    const allowed = listed(headers, 'access-control-allow-headers');
    const missing = cors.requestHeaders.filter((name) => !allowed.includes(name));
    must(missing.length === 0, `these headers are not allowed: ${missing.join(', ')}`);
  },
};

function listed(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((value) => value.trim().toLowerCase());
}

export const agreesOnSignIn: Step = {
  name: 'the dashboard and the user pool agree on where to sign in',
  async run({ place }) {
    const config = await send(new URL('/config.json', place.dashboardUrl).href);
    must(config.status === 200, `/config.json answered ${config.status}`);
    const known = [
      'apiBaseUrl',
      'signIn',
      'retentionDays',
      'creditMails',
      'billingPortalUrl',
      'supportContact',
    ];
    mustHaveMembers(config.json, known);
    mustHaveMembers(config.json.signIn, ['issuer', 'clientId', 'domainUrl']);
    mustEqual(config.json, { apiBaseUrl: place.baseUrl });
    mustEqual(config.json.signIn, place.signIn);
    const { issuer, domainUrl } = place.signIn;
    const discovery = await send(`${issuer}/.well-known/openid-configuration`);
    must(discovery.status === 200, `the pool's discovery document answered ${discovery.status}`);
    mustEqual(discovery.json ?? {}, { issuer });
    const authorization = String(discovery.json?.authorization_endpoint);
    must(authorization === `${domainUrl}/oauth2/authorize`, 'the pool signs in at another address');
  },
};
