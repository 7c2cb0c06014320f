import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen, type RunningServer } from '../../local/http/server.ts';
import type { CheckResult } from '../../bin/smoke/program.ts';
import { tableOf } from './grants.ts';
import { allObjects } from './objects.ts';
import { runProgram, type Run, type RunOptions } from './run-program.ts';
import { inRepository } from './repository.ts';
import { allItems } from './table-scan.ts';

/** Runs the program as an operator does. */
export function smoke(args: string[], options?: RunOptions): Promise<Run> {
  return runProgram(inRepository('bin/smoke.ts'), args, options);
}

/** Every item's key and every object's key: what a run may not leave anything in. */
export async function everything(dataDir: string): Promise<string[]> {
  const items = await allItems(tableOf(dataDir));
  return [...items.map(({ PK, SK }) => `${PK} ${SK}`), ...allObjects(dataDir).map(({ key }) => key)].sort();
}

/** A whole report by the checks' names. */
export function reported(stdout: string): Map<string, CheckResult> {
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
  return new Map(checks.map((check) => [check.name, check]));
}

/** The names of the checks that failed. */
export function failedIn(stdout: string): string[] {
  return [...reported(stdout).values()].filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/** Answers a request and returns true, or leaves it to the service behind. */
export type FrontAnswer = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Stands before the local service as API Gateway and CloudFront do before the functions: it may answer by itself. */
export async function startFront(answer: FrontAnswer, origin = 'http://127.0.0.1:1'): Promise<RunningServer> {
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
  return listen(server);
}

/** DescribeStacks of CloudFormation, with these outputs of any stack but `missing`. */
export async function startCloudFormation(outputs: Record<string, string>): Promise<RunningServer> {
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
  return listen(server);
}
