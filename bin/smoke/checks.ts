import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { generationAnswer, storedGeneration } from '../../shared/generations/answer-contract.ts';
import { healthAnswer } from '../../shared/model/health-contract.ts';
import { previewCacheControl } from '../../shared/images/previews.ts';
import { uploadAnswer } from '../../shared/images/answer-contract.ts';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { cors } from '../../shared/routes/api.ts';
import { must, mustAnswer, mustEqual, mustMatch, send } from './answers.ts';
import * as c from './context.ts';
import { ask, asked, generate, generateOnce, mustBeCharged, mustOpen, mustRefuse } from './context.ts';

export interface Check {
  name: string;
  /** Why this check is skipped; null when it runs. */
  skip?(context: c.SmokeContext): string | null;
  /** @throws Mismatch, or the SDK's errors */
  run(context: c.SmokeContext): Promise<void>;
}

/** A model that sleeps is asked again so often, and for so long, until it is awake. */
const askAgainMs = 10_000;
const wakingTimeoutMs = 20 * 60_000;

const once = { requests: 1, credits: 1 };
const dashboardConfig = z.object({
  apiBaseUrl: z.string(),
  signIn: z.strictObject({ issuer: z.string(), clientId: z.string(), domainUrl: z.string() }),
  retentionDays: z.int(),
  creditMails: z.boolean(),
  billingPortalUrl: z.nullable(z.string()),
  supportContact: z.nullable(z.string()),
});

const withoutModel = ({ place }: c.SmokeContext) => (place.hasModel ? null : 'the stack has no model');
const withoutImage = (context: c.SmokeContext) =>
  withoutModel(context) ?? (context.image === null ? 'no image was generated' : null);

/** In the order in which they run: the key is revoked last. */
export const checks: readonly Check[] = [
  {
    name: 'the API is up, and so is its model if it has one',
    async run(context) {
      const { hasModel } = context.place;
      const { json } = await ask(context, 'GET /health', { status: 200 });
      const expected = hasModel
        ? { inference: 'up', status: 'ok' }
        : { inference: 'down', status: 'degraded' };
      mustMatch(healthAnswer, json, expected);
      // One that may sleep need not be ready.
      must((json.model === 'unavailable') !== hasModel, `the model is ${json.model}`);
    },
  },
  {
    name: 'an image is generated and one credit charged',
    skip: withoutModel,
    async run(context) {
      const { place, fixture } = context;
      const { headers, json } = await generateAwake(context);
      const { identityId: id, name } = fixture.identity;
      const { creditsLimit } = fixture.license;
      const used = { creditsUsed: 1, creditsRemaining: creditsLimit - 1, creditsCharged: 1 };
      mustMatch(generationAnswer, json, { identity: { id, name }, referenceImagesUsed: 0, seed: asked.seed });
      mustMatch(generationAnswer.shape.usage, json.usage, { creditsLimit, ...used });
      must(headers['x-request-id'] === json.requestId, 'X-Request-Id is not the requestId');
      must(json.outputs.length === 1, 'outputs must hold one link');
      const { protocol } = new URL(place.baseUrl);
      must(new URL(json.outputs[0]).protocol === protocol, `the link must be ${protocol}//…`);
      must(json.processingTimeMs > 0, 'processingTimeMs must be milliseconds');
      must(Date.parse(json.usage.periodResetDate) > Date.now(), 'periodResetDate must be in the future');
      context.image = json;
    },
  },
  {
    name: 'without a model a generation is refused and nothing is charged or held',
    skip: ({ place }) => (place.hasModel ? 'the service has a model' : null),
    async run(context) {
      const answer = await generateOnce(context);
      mustAnswer(answer, 503, 'POST /generate', 'SERVICE_UNAVAILABLE');
      must(Number(answer.headers['retry-after']) > 0, 'Retry-After is missing');
      await mustBeCharged(context, 0);
    },
  },
  {
    name: 'its link opens: a PNG of the size asked for',
    skip: withoutImage,
    async run({ image }) {
      await mustOpen(image!.outputs[0]!);
      const [preview] = image!.previews;
      // A model that is older than previews makes none.
      if (!preview) return;
      const { headers } = await send(preview, "the preview's link", { status: 200 });
      mustEqual(headers, { 'content-type': 'image/webp', 'cache-control': previewCacheControl });
    },
  },
  {
    name: 'the stored request tells the same, with a fresh link',
    skip: withoutImage,
    async run(context) {
      const { requestId, outputs, seed, processingTimeMs } = context.image!;
      const request = { bearer: context.issued.rawKey, status: 200 };
      const { json } = await ask(context, `GET /generate/${requestId}`, request);
      const { identityId: id, name, slug } = context.fixture.identity;
      mustMatch(storedGeneration, json, {
        id: requestId,
        licenseId: context.fixture.license.licenseId,
        type: 'text_to_image',
        status: 'COMPLETED',
        identity: { id, name, slug },
        prompt: asked.prompt,
        seed,
        steps: asked.numInferenceSteps,
        cfgScale: asked.guidanceScale,
        width: asked.width,
        height: asked.height,
        numOutputs: 1,
        outputUrl: json.outputs?.[0],
        errorMessage: null,
        errorCode: null,
        creditsCharged: 1,
        processingTimeMs,
      });
      must(json.outputs.length === 1, 'outputs must hold one link');
      const [before, after] = [new URL(outputs[0]!), new URL(json.outputs[0])];
      must(before.pathname === after.pathname, 'the link is of another image');
      const signedAt = ({ searchParams }: URL) => searchParams.get('X-Amz-Date') ?? '';
      must(signedAt(after) >= signedAt(before), 'the link was not signed anew');
      await mustOpen(after.href);
    },
  },
  {
    name: 'usage counts it once',
    skip: withoutImage,
    async run(context) {
      const { byType, byIdentity } = await mustBeCharged(context, 1);
      mustEqual(byType, { text_to_image: once });
      mustEqual(byIdentity, { [context.fixture.identity.identityId]: once });
      const { localFolder } = context.place;
      // On AWS only the account itself can sign in.
      if (localFolder === null) return;
      const { licenseId, creditsLimit } = context.fixture.license;
      const request = { bearer: await c.localSession(context, localFolder), status: 200 };
      const { json } = await ask(context, `GET /usage?licenseId=${licenseId}`, request);
      mustEqual(json.stats, { current: 1, limit: creditsLimit });
      mustEqual(json.aggregates.byType, { text_to_image: once });
      // A model that slept has failed requests before it.
      const completed = json.history.filter((one: { status: string }) => one.status === 'COMPLETED');
      const isIt = completed.length === 1 && completed[0].requestId === context.image!.requestId;
      must(isIt, 'the history is wrong');
    },
  },
  {
    name: 'a repeated Idempotency-Key answers the same request and charges nothing',
    skip: withoutImage,
    async run(context) {
      const { headers, json } = await generateOnce(context, 200);
      must(headers['idempotent-replayed'] === 'true', 'Idempotent-Replayed is missing');
      must(json?.requestId === context.image!.requestId, 'it is another request');
      await mustBeCharged(context, 1);
    },
  },
  {
    // Every step of a reference image but the model: form, bucket, and the function that checks it.
    name: 'an uploaded file is looked at before anything is charged',
    skip: ({ fixture }) => (fixture.identity.productPhotos ? null : 'the identity takes no reference images'),
    async run(context) {
      const before = await c.totalsOf(context);
      const request = { bearer: context.issued.rawKey, status: 201 };
      const { json } = await ask(context, 'POST /uploads', request);
      mustMatch(uploadAnswer, json);
      const body = new FormData();
      for (const [name, value] of Object.entries<string>(json.fields)) body.set(name, value);
      body.set('file', new Blob(['this is no picture']));
      await send(json.url, "the upload's form", { method: 'POST', body, status: 204 });
      const referenceImages = [{ uploadId: json.uploadId }];
      const answer = await generate(context, {}, { prompt: 'x', referenceImages });
      mustAnswer(answer, 400, 'POST /generate', 'INVALID_PARAMETERS');
      const problem = 'referenceImages[0].uploadId: must be a PNG';
      must(answer.json.error.startsWith(problem), `POST /generate answered ${answer.json.error}`);
      must((await c.totalsOf(context)).committed === before.committed, 'credits are held for it');
    },
  },
  {
    name: 'a link that has expired is refused',
    async run(context) {
      const { bytes } = await send(await c.expiredLink(context), 'it', { status: 403 });
      must(bytes.includes('Request has expired'), 'it was refused, but not for its age');
    },
  },
  {
    name: 'a wrong key is refused: 401 INVALID_API_KEY',
    async run(context) {
      for (const bearer of [newApiKey(), 'not-a-key'])
        mustRefuse(await generate(context, { bearer }), 401, 'INVALID_API_KEY');
    },
  },
  {
    name: 'a revoked key is refused from the next request on: 401 INVALID_API_KEY',
    async run(context) {
      const { rawKey, key } = context.issued;
      const before = await ask(context, 'GET /identities', { bearer: rawKey });
      mustAnswer(before, 200, 'before it was revoked, it');
      await context.stores.apiKeys.revoke(key, Date.now());
      mustRefuse(await generate(context, {}), 401, 'INVALID_API_KEY');
    },
  },
  {
    name: 'a route that is not there answers 404 NOT_FOUND, with a key and without',
    async run(context) {
      const bearer = newApiKey();
      // On a missing route, API Gateway reads an Authorization header as an AWS signature.
      for (const request of [{}, { bearer }, { bearer, method: 'POST', body: {} }])
        mustRefuse(await ask(context, 'GET /no-such-endpoint', request), 404, 'NOT_FOUND');
    },
  },
  {
    name: "the dashboard's pages may call the API (CORS preflight)",
    skip: ({ place }) => (place.localFolder === null ? null : 'locally both have one origin'),
    async run(context) {
      const { origin } = new URL(context.place.dashboardUrl);
      const request = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': cors.requestHeaders.join(','),
      };
      const { status, headers } = await ask(context, 'OPTIONS /playground/generate', { headers: request });
      must(status === 200 || status === 204, `OPTIONS answered ${status}`);
      const allowed = (what: string) => headers[`access-control-allow-${what}`] ?? '';
      must(allowed('origin') === origin, `${origin} is not allowed`);
      const listed = (what: string) =>
        allowed(what)
          .toLowerCase()
          .split(/\s*,\s*/);
      must(listed('methods').includes('post'), 'POST is not allowed');
      const missing = cors.requestHeaders.filter((name) => !listed('headers').includes(name));
      must(missing.length === 0, `these headers are not allowed: ${missing.join(', ')}`);
    },
  },
  {
    name: 'the dashboard and the user pool agree on where to sign in',
    async run({ place: { baseUrl, dashboardUrl, signIn } }) {
      const config = await send(new URL('/config.json', dashboardUrl).href, '/config.json', { status: 200 });
      mustMatch(dashboardConfig, config.json, { apiBaseUrl: baseUrl });
      mustEqual(config.json.signIn, signIn);
      const url = `${signIn.issuer}/.well-known/openid-configuration`;
      const { json } = await send(url, "the pool's discovery document", { status: 200 });
      mustEqual(json, { issuer: signIn.issuer });
      const authorization = `${signIn.domainUrl}/oauth2/authorize`;
      must(json.authorization_endpoint === authorization, 'the pool signs in at another address');
    },
  },
];

/** A model that sleeps refuses the first request, and wakes by it: nothing is charged until it generates. */
async function generateAwake(context: c.SmokeContext) {
  const untilMs = Date.now() + wakingTimeoutMs;
  for (;;) {
    const answer = await generateOnce(context);
    const { json } = await ask(context, 'GET /health');
    const mayWake = answer.status === 503 && ['asleep', 'waking'].includes(json?.model);
    if (mayWake && Date.now() < untilMs) await pause(askAgainMs);
    else {
      mustAnswer(answer, 200, 'POST /generate');
      return answer;
    }
  }
}
