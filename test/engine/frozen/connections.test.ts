import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { newSigningKey } from '../../../local/cognito/signing-key.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { invocationPath, startLambda } from '../../../local/lambda/engine.ts';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { modelServer } from '../../../shared/model/client.ts';
import { referenceFetcherClient } from '../../../shared/references/reader-client.ts';
import { sessionVerifier } from '../../../shared/accounts/session-verifier.ts';
import { putLink, readLink } from '../../../shared/images/signed-links.ts';
import { openFixture, type Keep } from '../../support/fixture.ts';
import { startOneAnswerProxy } from '../../support/one-answer-proxy.ts';
import { startContainer } from '../local/sagemaker/support.ts';

/*
 * Lambda freezes a function between requests, and what it was connected to may forget the connections meanwhile. Behind the
 * proxy each connection is dead after its first answer. Every call must work all the same, since none is sent twice.
 */
const region = 'us-east-1';
const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
Object.assign(process.env, {
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
});
const rounds = 3;
const { kid, kty, n, e } = await newSigningKey();

interface Engine {
  open(keep: Keep): Promise<RunningServer>;
  /** What a function does with the engine at this address, again and again. */
  use(url: string): () => Promise<void>;
  connections?: number;
}

const engines: Record<string, Engine> = {
  'the model': {
    async open(keep) {
      const container = keep(await startContainer((response) => response.end('{"event":"started"}\n')));
      return startSageMakerRuntime({ endpoints: { model: container.url } });
    },
    use(url) {
      process.env.AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME = url;
      const model = modelServer('model');
      return async () => expect(await model.probe()).toBe('ready');
    },
  },
  'the function that fetches references': {
    open: () => startLambda({ functions: { f: async () => ({ problems: [] }) }, credentials, region }),
    use(url) {
      const references = referenceFetcherClient(url + invocationPath('f'));
      return async () => expect(await references.fetch({ requestId: 'r', items: [] })).toEqual([]);
    },
  },
  "the user pool's keys": {
    open: () => listen(createServer((_, res) => res.end(JSON.stringify({ keys: [{ kid, kty, n, e }] })))),
    use: (url) => async () => {
      // Each verifier fetches the keys once.
      const pool = { issuer: 'https://pool.test', clientId: 'c', jwksUrl: `${url}/jwks.json` };
      expect(await sessionVerifier(pool).verify(forgedToken())).toBeNull();
    },
  },
  'signed links': {
    open: () => listen(createServer((req, res) => void req.resume().on('end', () => res.end('bytes')))),
    use: (url) => async () => {
      const signal = AbortSignal.timeout(60_000);
      await putLink(`${url}/a`, Buffer.from('bytes'), signal);
      expect(await readLink(`${url}/a`, signal)).toEqual(Buffer.from('bytes'));
    },
    connections: 2 * rounds,
  },
};

test.each(Object.entries(engines))(
  '%s can be called after each connection died',
  async (_what, { open, use, connections = rounds }) => {
    const { proxy, close } = await openFixture(async (keep) => {
      const engine = keep(await open(keep));
      return { proxy: keep(await startOneAnswerProxy(engine.url)) };
    });
    const call = use(proxy.url);
    for (let round = 0; round < rounds; round++) await call();
    expect(proxy.seen).toEqual({ connections, reused: 0 });
    await close();
  },
);

/** With a wrong signature, which is found only with the pool's keys. */
function forgedToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: 'https://pool.test', sub: 's', token_use: 'access', client_id: 'c', exp: 4e9 };
  return [part({ alg: 'RS256', kid }), part(claims), 'AAAA'].join('.');
}
