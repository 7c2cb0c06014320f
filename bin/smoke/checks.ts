import { setTimeout as pause } from 'node:timers/promises';
import { generationAnswer, storedGeneration } from '../../shared/generations/answer-contract.ts';
import { dashboardConfig } from '../../shared/accounts/dashboard-config.ts';
import { healthAnswer } from '../../shared/model/health-contract.ts';
import { previewCacheControl } from '../../shared/images/previews.ts';
import { uploadAnswer } from '../../shared/images/answer-contract.ts';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { cors } from '../../shared/routes/api.ts';
import { errorBody } from '../../shared/base/error-contract.ts';
import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import { must, mustAnswer, mustEqual, mustMatch, send, type HttpAnswer, type HttpRequest } from './http.ts';
import type { SmokeFixture } from './fixture.ts';

export type Work = (fixture: SmokeFixture) => Promise<void>;
/** @returns why a check is skipped; null when it runs */
type Skip = (fixture: SmokeFixture) => string | null;

/** Makes rows of the table of checks. */
const rowsThat = (skip: Skip) => (name: string, run: Work) => ({ name, skip, run });

const always = rowsThat(() => null);
const ifModel = rowsThat(({ place }) => (place.hasModel ? null : 'the stack has no model'));
const ifNoModel = rowsThat(({ place }) => (place.hasModel ? 'the service has a model' : null));
const ifImage = rowsThat(({ image }) => (image ? null : 'no image was generated'));
const ifPhotos = rowsThat(({ identity }) => (identity.productPhotos ? null : 'it takes no reference images'));
const ifStack = rowsThat(({ place }) => (place.localFolder === null ? null : 'locally both have one origin'));

/** A model that is scaled to zero is asked again so often, and for so long, until its cold start is over. */
const askAgainMs = 10_000;
const coldStartTimeoutMs = 20 * 60_000;

const once = { requests: 1, credits: 1 };
const size = { width: 512, height: 512 };
/** What is generated: an image that no other check makes. */
const asked = { prompt: 'a calm night', seed: 7, numInferenceSteps: 20, guidanceScale: 7.5, ...size };

/** @param call its method and its path, as "GET /health" */
function ask({ place }: SmokeFixture, call: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const [method, path] = call.split(' ');
  return send(place.baseUrl + path, call, { method: method!, ...request });
}

function generate(fixture: SmokeFixture, request: HttpRequest = {}, order: object = asked) {
  const body = { identityId: fixture.identity.identityId, ...order };
  return ask(fixture, 'POST /generate', { bearer: fixture.issued!.rawKey, body, ...request });
}

/** The generation that is charged, however often it is sent. Its time-out is longer than any generation may take. */
function generateOnce(fixture: SmokeFixture): Promise<HttpAnswer> {
  return generate(fixture, { headers: { 'idempotency-key': fixture.license.ownerId }, timeoutMs: 480_000 });
}

/** Of the temporary license, whose period began with it. */
function totalsOf({ stores, license }: SmokeFixture) {
  return stores.periods.get(license.licenseId, creditPeriod(license, Date.now()).startMs);
}

/** @throws Failure unless so many credits are charged, and none is held */
async function mustBeCharged(fixture: SmokeFixture, credits: 0 | 1) {
  const totals = await totalsOf(fixture);
  const [used, held] = [totals.used, totals.committed - totals.used];
  must(used === credits && held === 0, `${used} credits are used and ${held} held, not ${credits} and 0`);
  return totals;
}

/** @throws Failure unless it is an error of the API with this status and code */
function mustRefuse(answer: HttpAnswer, status: number, code: string): void {
  mustAnswer(answer, status, 'it', code);
  mustMatch(errorBody, answer.json);
  must(answer.headers['x-request-id'] !== undefined, 'X-Request-Id is missing');
}

/** @throws Failure unless a link opens an image as it was asked for */
async function mustOpen(link: string): Promise<void> {
  const { headers, bytes } = await send(link, 'the link', { status: 200 });
  must(headers['content-type'] === 'image/png', 'the Content-Type is not image/png');
  must(bytes.toString('hex', 0, 8) === '89504e470d0a1a0a' && bytes.length > 24, 'the bytes are no PNG');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  must(width === asked.width && height === asked.height, `the image has ${width} × ${height} pixels`);
}

/** In the order in which they run: the key is revoked last. */
export const checks = [
  always('the API is up, and so is its model if it has one', async (fixture) => {
    const { hasModel } = fixture.place;
    const { json } = await ask(fixture, 'GET /health', { status: 200 });
    const [inference, status] = hasModel ? ['up', 'ok'] : ['down', 'degraded'];
    mustMatch(healthAnswer, json, { inference, status });
    // One that may be scaled to zero need not be ready.
    must((json.model === 'unavailable') !== hasModel, `the model is ${json.model}`);
  }),
  ifModel('an image is generated and one credit charged', async (fixture) => {
    const { identityId: id, name } = fixture.identity;
    const { creditsLimit } = fixture.license;
    const answer = await generateAfterColdStart(fixture);
    mustAnswer(answer, 200, 'POST /generate');
    const { headers, json } = answer;
    mustMatch(generationAnswer, json, { identity: { id, name }, referenceImagesUsed: 0, seed: asked.seed });
    const used = { creditsUsed: 1, creditsRemaining: creditsLimit - 1, creditsCharged: 1 };
    mustMatch(generationAnswer.shape.usage, json.usage, { creditsLimit, ...used });
    must(headers['x-request-id'] === json.requestId, 'X-Request-Id is not the requestId');
    must(json.outputs.length === 1, 'outputs must hold one link');
    const { protocol } = new URL(fixture.place.baseUrl);
    must(new URL(json.outputs[0]).protocol === protocol, `the link must be ${protocol}//…`);
    must(json.processingTimeMs > 0, 'processingTimeMs must be milliseconds');
    must(Date.parse(json.usage.periodResetDate) > Date.now(), 'periodResetDate must be in the future');
    fixture.image = json;
  }),
  ifNoModel('without a model a generation is refused and nothing is charged or held', async (fixture) => {
    const answer = await generateOnce(fixture);
    mustAnswer(answer, 503, 'POST /generate', 'SERVICE_UNAVAILABLE');
    must(Number(answer.headers['retry-after']) > 0, 'Retry-After is missing');
    await mustBeCharged(fixture, 0);
  }),
  ifImage('its link opens: a PNG of the size asked for', async ({ image }) => {
    await mustOpen(image!.outputs[0]!);
    const [preview] = image!.previews;
    // A model that is older than previews makes none.
    if (!preview) return;
    const { headers } = await send(preview, "the preview's link", { status: 200 });
    mustEqual(headers, { 'content-type': 'image/webp', 'cache-control': previewCacheControl });
  }),
  ifImage('the stored request shows the same, with a fresh link', async (fixture) => {
    const { requestId, outputs, seed, processingTimeMs } = fixture.image!;
    const { licenseId } = fixture.license;
    const { rawKey: bearer } = fixture.issued!;
    const { json } = await ask(fixture, `GET /generate/${requestId}`, { bearer, status: 200 });
    const { identityId: id, name, slug } = fixture.identity;
    const { numInferenceSteps: steps, guidanceScale: cfgScale, ...same } = asked;
    const which = { id: requestId, licenseId, type: 'text_to_image', identity: { id, name, slug } };
    const end = { status: 'COMPLETED', errorMessage: null, errorCode: null, processingTimeMs };
    const images = { seed, numOutputs: 1, creditsCharged: 1, outputUrl: json.outputs?.[0] };
    mustMatch(storedGeneration, json, { ...same, steps, cfgScale, ...which, ...end, ...images });
    must(json.outputs.length === 1, 'outputs must hold one link');
    const [before, after] = [new URL(outputs[0]!), new URL(json.outputs[0])];
    must(before.pathname === after.pathname, 'the link is of another image');
    const signedAt = ({ searchParams }: URL) => searchParams.get('X-Amz-Date') ?? '';
    must(signedAt(after) >= signedAt(before), 'the link was not signed anew');
    await mustOpen(after.href);
  }),
  ifImage('usage counts it once', async (fixture) => {
    const { byType, byIdentity } = await mustBeCharged(fixture, 1);
    mustEqual(byType, { text_to_image: once });
    mustEqual(byIdentity, { [fixture.identity.identityId]: once });
  }),
  ifImage('a repeated Idempotency-Key answers the same request and charges nothing', async (fixture) => {
    const answer = await generateOnce(fixture);
    mustAnswer(answer, 200, 'POST /generate');
    must(answer.headers['idempotent-replayed'] === 'true', 'Idempotent-Replayed is missing');
    must(answer.json?.requestId === fixture.image!.requestId, 'it is another request');
    await mustBeCharged(fixture, 1);
  }),
  // Every step of a reference image but the model: form, bucket, and the function that checks it.
  ifPhotos('an uploaded file is looked at before anything is charged', async (fixture) => {
    const before = await totalsOf(fixture);
    const { json } = await ask(fixture, 'POST /uploads', { bearer: fixture.issued!.rawKey, status: 201 });
    mustMatch(uploadAnswer, json);
    const body = new FormData();
    for (const [name, value] of Object.entries<string>(json.fields)) body.set(name, value);
    body.set('file', new Blob(['this is no picture']));
    await send(json.url, "the upload's form", { method: 'POST', body, status: 204 });
    const referenceImages = [{ uploadId: json.uploadId }];
    const answer = await generate(fixture, {}, { prompt: 'x', referenceImages });
    mustAnswer(answer, 400, 'POST /generate', 'INVALID_PARAMETERS');
    must(answer.json.error.startsWith('referenceImages[0].uploadId: must be a PNG'), 'it names no file');
    must((await totalsOf(fixture)).committed === before.committed, 'credits are held for it');
  }),
  always('a wrong key is refused: 401 INVALID_API_KEY', async (fixture) => {
    for (const bearer of [newApiKey(), 'not-a-key'])
      mustRefuse(await generate(fixture, { bearer }), 401, 'INVALID_API_KEY');
  }),
  always('a revoked key is refused from the next request on: 401 INVALID_API_KEY', async (fixture) => {
    const { rawKey, key } = fixture.issued!;
    mustAnswer(await ask(fixture, 'GET /identities', { bearer: rawKey }), 200, 'before it was revoked, it');
    await fixture.stores.apiKeys.revoke(key, Date.now());
    mustRefuse(await generate(fixture), 401, 'INVALID_API_KEY');
  }),
  always('a route that is not there answers 404 NOT_FOUND, with a key and without', async (fixture) => {
    const bearer = newApiKey();
    // On a missing route, API Gateway reads an Authorization header as an AWS signature.
    for (const request of [{}, { bearer }, { bearer, method: 'POST', body: {} }])
      mustRefuse(await ask(fixture, 'GET /no-such-endpoint', request), 404, 'NOT_FOUND');
  }),
  ifStack("the dashboard's pages may call the API (CORS preflight)", async (fixture) => {
    const { origin } = new URL(fixture.place.dashboardUrl);
    const asks = { method: 'POST', headers: cors.requestHeaders.join(',') };
    const named = Object.entries(asks).map(([what, value]) => [`access-control-request-${what}`, value]);
    const request = { headers: { origin, ...Object.fromEntries(named) } };
    const { status, headers } = await ask(fixture, 'OPTIONS /playground/generate', request);
    must(status === 200 || status === 204, `OPTIONS answered ${status}`);
    const allowed = (what: string) => headers[`access-control-allow-${what}`]?.toLowerCase() ?? '';
    must(allowed('origin') === origin, `${origin} is not allowed`);
    must(/\bpost\b/.test(allowed('methods')), 'POST is not allowed');
    const listed = allowed('headers').split(/\s*,\s*/);
    const missing = cors.requestHeaders.filter((name) => !listed.includes(name));
    must(missing.length === 0, `these headers are not allowed: ${missing.join(', ')}`);
  }),
  always('the dashboard and the user pool agree on where to sign in', async ({ place }) => {
    const { baseUrl, dashboardUrl, signIn } = place;
    const config = await send(new URL('/config.json', dashboardUrl).href, '/config.json', { status: 200 });
    mustMatch(dashboardConfig, config.json, { apiBaseUrl: baseUrl });
    mustEqual(config.json.signIn, signIn);
    const url = `${signIn.issuer}/.well-known/openid-configuration`;
    const { json } = await send(url, "the pool's discovery document", { status: 200 });
    mustEqual(json, {
      issuer: signIn.issuer,
      authorization_endpoint: `${signIn.domainUrl}/oauth2/authorize`,
    });
  }),
];

/** The first request to a model that is scaled to zero is refused, and begins its cold start: nothing is charged until it generates. */
async function generateAfterColdStart(fixture: SmokeFixture) {
  const untilMs = Date.now() + coldStartTimeoutMs;
  for (;;) {
    const answer = await generateOnce(fixture);
    const { json } = await ask(fixture, 'GET /health');
    const isCold = answer.status === 503 && ['asleep', 'waking'].includes(json?.model);
    if (!isCold || Date.now() >= untilMs) return answer;
    await pause(askAgainMs);
  }
}
