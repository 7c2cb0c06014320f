import { readdirSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { once } from 'node:events';
import { Sha256 } from '@aws-crypto/sha256-js';
import { S3, type GetObjectCommandInput, type PutObjectCommandInput } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { listen, type RunningServer } from '../../../../local/http/server.ts';
import { createObjectStore, type ObjectStoreOptions } from '../../../../local/s3/server.ts';
import { removeFolder, temporaryFolder } from '../../../support/service.ts';

export const credentials = { accessKeyId: 'AKIDLOCALTEST', secretAccessKey: 'a-secret-for-tests' };
export const region = 'eu-west-1';
export const bucket = 'images';

/** The SDK of this process signs with the credentials that the engines know. */
export function setCredentials(): void {
  process.env.AWS_REGION = region;
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey;
}

export async function startS3(options: ObjectStoreOptions): Promise<RunningServer> {
  const { handle } = await createObjectStore(options);
  return listen(createServer((req, res) => void handle(req, res)));
}

export type TestStore = Awaited<ReturnType<typeof startStore>>;

/** A store in a folder of its own, with the real SDK pointed at it. */
export async function startStore(options: Partial<ObjectStoreOptions> = {}) {
  const folder = temporaryFolder();
  let stoppedAt: Date | null = null;
  const clock = () => stoppedAt ?? new Date();
  const start = () => startS3({ folder, bucketName: bucket, credentials, region, clock, ...options });
  let server = await start();
  const store = {
    url: server.url,
    folder,
    /** The SDK as an application configures it: region, credentials, endpoint, nothing else. */
    client: clientFor(server.url),
    put: (Key: string, Body: Buffer | string, more?: Partial<PutObjectCommandInput>) =>
      store.client.putObject({ Bucket: bucket, Key, Body, ...more }),
    get: (Key: string, more?: Partial<GetObjectCommandInput>) =>
      store.client.getObject({ Bucket: bucket, Key, ...more }),
    remove: (Key: string) => store.client.deleteObject({ Bucket: bucket, Key }),
    /** The bucket's keys, in the order of the listing. */
    async keys() {
      const { Contents = [] } = await store.client.listObjectsV2({ Bucket: bucket });
      return Contents.map(({ Key }) => Key);
    },
    /** Stops the store's clock at a moment, or lets it go again. */
    stopClock: (at: Date | null) => void (stoppedAt = at),
    /** Stops the server and starts another one on the same folder. */
    async restart() {
      await server.close();
      server = await start();
      store.url = server.url;
      store.client = clientFor(server.url);
    },
    async close() {
      await server.close();
      removeFolder(folder);
    },
    /** Every file below the store's folder. */
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
  };
  return store;
}

export function clientFor(endpoint: string, other: Partial<typeof credentials & { region: string }> = {}) {
  return new S3({
    endpoint,
    region: other.region ?? region,
    credentials: { ...credentials, ...other },
    maxAttempts: 1,
    // On a busy machine this process may notice too late that the server has closed an idle connection.
    requestHandler: { httpAgent: { keepAlive: false } },
  });
}

export interface RawRequest {
  method?: string;
  /** Sent as it is, unlike what `fetch` does. */
  path: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The `Code` of an XML error. */
  code: string | undefined;
}

export async function send(
  url: string,
  { method = 'GET', path, headers = {}, body: sent }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const request = httpRequest({ hostname, port, method, path, headers }).end(sent);
  const [response] = await once(request, 'response');
  const body = (await buffer(response)).toString();
  return { status: response.statusCode, headers: response.headers, body, code: errorCode(body) };
}

export function errorCode(xml: string): string | undefined {
  return /<Code>(\w+)<\/Code>/.exec(xml)?.[1];
}

export interface SigningChoice {
  date?: Date;
  region?: string;
  service?: string;
  credentials?: typeof credentials;
}

/** The headers of a request signed in its Authorization header by AWS's signer. */
export async function signHeaders(url: string, request: RawRequest, choice: SigningChoice = {}) {
  const { method = 'GET', headers, body = '' } = request;
  const { date: signingDate = new Date(), ...others } = choice;
  const [path = '', query = ''] = request.path.split('?');
  const settings = { credentials, region, service: 's3', ...others };
  const signer = new SignatureV4({ ...settings, sha256: Sha256, uriEscapePath: false });
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '',
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: { host: new URL(url).host, ...headers },
      body,
    },
    { signingDate },
  );
  return signed.headers;
}

/** Signs, then sends; `change` may alter the signed headers on the way. */
export async function sendSigned(
  url: string,
  request: RawRequest,
  { change, ...choice }: SigningChoice & { change?: Record<string, string> } = {},
): Promise<RawAnswer> {
  const headers = { ...(await signHeaders(url, request, choice)), ...change };
  return send(url, { ...request, headers });
}
