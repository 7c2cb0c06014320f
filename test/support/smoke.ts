import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { readEngines } from '../../bin/admin/connection.ts';
import type { StepResult } from '../../bin/smoke/step.ts';

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  /** Sends SIGINT as soon as this is on stdout. */
  interruptAt?: string;
}

/** Runs the program as an operator does, with nothing of this machine's AWS set-up. */
export function smoke(args: string[], { env = {}, interruptAt }: RunOptions = {}): Promise<Run> {
  const program = new URL('../../bin/smoke.ts', import.meta.url).pathname;
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: tmpdir(),
    env: { PATH, AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: Run = { code: null, stdout: '', stderr: '' };
  let interrupted = false;
  child.stdout.on('data', (chunk: Buffer) => {
    run.stdout += chunk.toString();
    if (interruptAt === undefined || interrupted || !run.stdout.includes(interruptAt)) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  child.stderr.on('data', (chunk: Buffer) => (run.stderr += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...run, code })));
}

/** Every item's key and every object's key: what a run may not leave anything in. */
export async function everything(dataDir: string): Promise<string[]> {
  const { region, tableName, bucketName, dynamoDbUrl, s3Url, ...credentials } = readEngines(dataDir);
  const table = new DynamoDBClient({ endpoint: dynamoDbUrl, region, credentials });
  const bucket = new S3Client({ endpoint: s3Url, region, credentials });
  const { Items: items = [] } = await table.send(new ScanCommand({ TableName: tableName }));
  const { Contents: objects = [] } = await bucket.send(new ListObjectsV2Command({ Bucket: bucketName }));
  table.destroy();
  bucket.destroy();
  return [...items.map(({ PK, SK }) => `${PK!.S} ${SK!.S}`), ...objects.map(({ Key: key }) => key!)].sort();
}

/** A whole report by the checks' names. */
export function reported(stdout: string): Map<string, StepResult> {
  const { checks } = JSON.parse(stdout) as { checks: StepResult[] };
  return new Map(checks.map((check) => [check.name, check]));
}

/** The names of the checks that failed. */
export function failedIn(stdout: string): string[] {
  return [...reported(stdout).values()].filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/** Answers a request and returns true, or leaves it to the service behind. */
export type FrontAnswer = (req: IncomingMessage, res: ServerResponse) => boolean;

export interface Front {
  url: string;
  close(): void;
}

/** Stands before the local service as API Gateway and CloudFront do before the functions: it may answer by itself. */
export async function startFront(answer: FrontAnswer, origin = 'http://127.0.0.1:1'): Promise<Front> {
  const server = createServer(async (req, res) => {
    if (answer(req, res)) return;
    const body = Buffer.concat(await req.toArray());
    const { host: _, connection: __, 'content-length': ___, ...headers } = req.headers;
    const response = await fetch(`${origin}${req.url}`, {
      method: req.method!,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const passedOn = ['content-type', 'x-request-id', 'idempotent-replayed', 'retry-after'];
    for (const name of passedOn)
      if (response.headers.has(name)) res.setHeader(name, response.headers.get(name)!);
    res.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()));
  });
  return listening(server);
}

/** DescribeStacks of CloudFormation, with these outputs of any stack but `missing`. */
export async function startCloudFormation(outputs: Record<string, string>): Promise<Front> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const found = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const unknown =
    '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id missing does not exist</Message></Error></ErrorResponse>';
  const server = createServer(async (req, res) => {
    const asked = Buffer.concat(await req.toArray()).toString();
    const missing = asked.includes('StackName=missing');
    res.writeHead(missing ? 400 : 200, { 'content-type': 'text/xml' }).end(missing ? unknown : found);
  });
  return listening(server);
}

async function listening(server: Server): Promise<Front> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
