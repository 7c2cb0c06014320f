import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sha256 } from '@aws-crypto/sha256-js';
import {
  S3,
  type GetObjectCommandInput,
  type GetObjectCommandOutput,
  type PutObjectCommandInput,
  type PutObjectCommandOutput,
} from '@aws-sdk/client-s3';
import type { PresignedPost } from '@aws-sdk/s3-presigned-post';
import { SignatureV4 } from '@smithy/signature-v4';
import { listen, type RunningServer } from '../../../../local/http/server.ts';
import { createObjectStore, type ObjectStoreOptions } from '../../../../local/s3/server.ts';

export const credentials = { accessKeyId: 'AKIDLOCALTEST', secretAccessKey: 'a-secret-for-tests' };
export const region = 'eu-west-1';
export const bucket = 'images';
export const unsignedPayload = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };

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

export interface TestStore {
  url: string;
  folder: string;
  /** The SDK as an application configures it: region, credentials, endpoint, nothing else. */
  client: S3;
  put(
    Key: string,
    Body: Buffer | string,
    more?: Partial<PutObjectCommandInput>,
  ): Promise<PutObjectCommandOutput>;
  get(Key: string, more?: Partial<GetObjectCommandInput>): Promise<GetObjectCommandOutput>;
  remove(Key: string): Promise<unknown>;
  /** The bucket's keys, in the order of the listing. */
  keys(): Promise<(string | undefined)[]>;
  /** Stops the store's clock at a moment, or lets it go again. */
  stopClock(at: Date | null): void;
  /** Stops the server and starts another one on the same folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
  /** Every file below the store's folder. */
  files(): Promise<string[]>;
}

/** A store in a folder of its own, with the real SDK pointed at it. */
export async function startStore(options: Partial<ObjectStoreOptions> = {}): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 's3-test-'));
  let stoppedAt: Date | null = null;
  const clock = () => stoppedAt ?? new Date();
  const start = () => startS3({ folder, bucketName: bucket, credentials, region, clock, ...options });
  let server = await start();
  const store: TestStore = {
    url: server.url,
    folder,
    client: clientFor(server.url),
    put: (Key, Body, more) => store.client.putObject({ Bucket: bucket, Key, Body, ...more }),
    get: (Key, more) => store.client.getObject({ Bucket: bucket, Key, ...more }),
    remove: (Key) => store.client.deleteObject({ Bucket: bucket, Key }),
    async keys() {
      const { Contents = [] } = await store.client.listObjectsV2({ Bucket: bucket });
      return Contents.map(({ Key }) => Key);
    },
    stopClock: (at) => void (stoppedAt = at),
    async restart() {
      await server.close();
      server = await start();
      store.url = server.url;
      store.client = clientFor(server.url);
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true });
    },
    async files() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
  };
  return store;
}

export function clientFor(
  endpoint: string,
  overrides: Partial<typeof credentials & { region: string }> = {},
) {
  const { region: otherRegion = region, ...others } = overrides;
  return new S3({
    endpoint,
    region: otherRegion,
    credentials: { ...credentials, ...others },
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
  body: Buffer;
  /** The `Code` of an XML error. */
  code: string | undefined;
}

export function send(
  url: string,
  { method = 'GET', path, headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const answer = Buffer.concat(pieces);
        const code = errorCode(answer.toString());
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer, code });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

export function errorCode(xml: string): string | undefined {
  return /<Code>(\w+)<\/Code>/.exec(xml)?.[1];
}

export interface SigningChoice {
  date?: Date;
  region?: string;
  service?: string;
  credentials?: typeof credentials & { sessionToken?: string };
}

/** The headers of a request signed in its Authorization header by AWS's signer. */
export async function signHeaders(url: string, request: RawRequest, choice: SigningChoice = {}) {
  const [path = '', query = ''] = request.path.split('?');
  const body = request.body ?? '';
  const signer = new SignatureV4({
    credentials: choice.credentials ?? credentials,
    region: choice.region ?? region,
    service: choice.service ?? 's3',
    sha256: Sha256,
    uriEscapePath: false,
  });
  const signed = await signer.sign(
    {
      method: request.method ?? 'GET',
      protocol: 'http:',
      hostname: '',
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: { host: new URL(url).host, ...request.headers },
      body,
    },
    { signingDate: choice.date ?? new Date() },
  );
  return signed.headers;
}

/** Signs, then sends; `change` may alter the signed headers on the way. */
export async function sendSigned(
  url: string,
  request: RawRequest,
  choice: SigningChoice & { change?: Record<string, string> } = {},
): Promise<RawAnswer> {
  const headers = { ...(await signHeaders(url, request, choice)), ...choice.change };
  return send(url, { ...request, headers });
}

/** Sends the form of a presigned POST as a browser does; a change to undefined leaves a field out. */
export async function submit(
  form: PresignedPost,
  file: Buffer | string,
  changes: Record<string, string | undefined> = {},
) {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...form.fields, ...changes })) {
    if (value !== undefined) body.append(name, value);
  }
  body.append('file', new File([file as string], 'photo.png'));
  const answer = await fetch(form.url, { method: 'POST', body });
  const xml = await answer.text();
  const message = /<Message>([^<]*)/.exec(xml)?.[1];
  return { status: answer.status, code: errorCode(xml), message, xml, headers: answer.headers };
}
