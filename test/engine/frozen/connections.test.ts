import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newSigningKey } from '../../../local/cognito/signing-key.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { invocationPath, startLambda } from '../../../local/lambda/engine.ts';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { modelServer } from '../../../shared/model/client.ts';
import { referenceFetcherClient } from '../../../shared/references/reader-client.ts';
import { sessionVerifier } from '../../../shared/accounts/session-verifier.ts';
import { putLink, readLink } from '../../../shared/images/signed-links.ts';
import { startOneAnswerProxy, type OneAnswerProxy } from '../../support/one-answer-proxy.ts';
import { startContainer } from '../local/sagemaker/support.ts';

/*
 * Lambda freezes a function between requests, and what it was connected to may forget the connections meanwhile. Behind the
 * proxy each connection is dead after its first answer. Every call must work all the same, since none is sent twice.
 */
const region = 'us-east-1';
const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
const rounds = 3;
let opened: { close(): Promise<void> }[];

beforeEach(() => {
  opened = [];
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
});
afterEach(() => Promise.all(opened.map((one) => one.close())));

async function proxied(engine: RunningServer): Promise<OneAnswerProxy> {
  const proxy = await startOneAnswerProxy(engine.url);
  opened.push(proxy, engine);
  return proxy;
}

const signal = () => AbortSignal.timeout(60_000);

test('the model', async () => {
  const container = await startContainer((response) => response.end('{"event":"started"}\n'));
  opened.push(container);
  const { url, seen } = await proxied(await startSageMakerRuntime({ endpoints: { model: container.url } }));
  process.env.AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME = url;
  const model = modelServer('model');
  for (let round = 0; round < rounds; round++) expect(await model.probe()).toBe('ready');
  expect(seen).toEqual({ connections: rounds, reused: 0 });
});

test('the function that fetches references', async () => {
  const functions = { f: async () => ({ problems: [] }) };
  const { url, seen } = await proxied(await startLambda({ functions, credentials, region }));
  const references = referenceFetcherClient(url + invocationPath('f'));
  for (let round = 0; round < rounds; round++) {
    expect(await references.fetch({ requestId: 'r', items: [] })).toEqual([]);
  }
  expect(seen).toEqual({ connections: rounds, reused: 0 });
});

test("the user pool's keys", async () => {
  const { kid, kty, n, e } = await newSigningKey();
  const pool = createServer((_, response) => response.end(JSON.stringify({ keys: [{ kid, kty, n, e }] })));
  const { url, seen } = await proxied(await listen(pool));
  for (let round = 0; round < rounds; round++) {
    // Each verifier fetches the keys once.
    const verifier = sessionVerifier({
      issuer: 'https://pool.test',
      clientId: 'c',
      jwksUrl: `${url}/jwks.json`,
    });
    expect(await verifier.verify(tokenFor(kid!))).toBeNull();
  }
  expect(seen).toEqual({ connections: rounds, reused: 0 });
});

test('signed links', async () => {
  const store = createServer(
    (request, response) => void request.resume().on('end', () => response.end('bytes')),
  );
  const { url, seen } = await proxied(await listen(store));
  for (let round = 0; round < rounds; round++) {
    await putLink(`${url}/a`, Buffer.from('bytes'), signal());
    expect(await readLink(`${url}/a`, signal())).toEqual(Buffer.from('bytes'));
  }
  expect(seen).toEqual({ connections: 2 * rounds, reused: 0 });
});

/** A token with a wrong signature, which is found only with the pool's keys. */
function tokenFor(kid: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: 'https://pool.test',
    sub: 's',
    token_use: 'access',
    client_id: 'c',
    exp: 4_000_000_000,
  };
  return [part({ alg: 'RS256', kid }), part(claims), 'AAAA'].join('.');
}
