import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { awsUrl, signedFetch } from '../../shared/base/signed-fetch.ts';
import { requestIdTimeMs } from '../../shared/base/ids.ts';
import { Failure } from './failure.ts';
import { resourcesOf } from './stack.ts';

/** Where the lines of functions are: in a file, or in the log groups of a stack. */
export type LogPlace = { file: string } | { stackName: string };

export type LogLine = Record<string, unknown>;

const minuteMs = 60_000;
/** The longest request, and what is done after it. */
const longestMs = 30 * minuteMs;
const maxGroups = 50;

/** What the functions logged of a request, oldest first. An id tells its time, so little is read. */
export async function logLines(place: LogPlace, requestId: string): Promise<LogLine[]> {
  const texts = 'file' in place ? linesOfFile(place.file) : await askInsights(place.stackName, requestId);
  return texts
    .filter((text) => text.includes(requestId))
    .flatMap((text) => {
      try {
        return [JSON.parse(text) as LogLine];
      } catch {
        return [];
      }
    });
}

function linesOfFile(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}

/** CloudWatch Logs API, "StartQuery" and "GetQueryResults": at most 50 log groups, times in seconds, and results while it runs. */
async function askInsights(stackName: string, requestId: string): Promise<string[]> {
  const client = new CloudFormationClient({});
  const groups = await resourcesOf(client, stackName, 'AWS::Logs::LogGroup').finally(() => client.destroy());
  const send = signedFetch('logs', client.config);
  const region = await client.config.region();
  const call = async (operation: string, parameters: object): Promise<any> => {
    const answer = await send({
      url: process.env.AWS_ENDPOINT_URL_CLOUDWATCH_LOGS ?? awsUrl('logs', region),
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `Logs_20140328.${operation}` },
      body: JSON.stringify(parameters),
      withinMs: 10_000,
    });
    const body: any = await answer.json().catch(() => ({}));
    if (answer.ok) return body;
    throw new Failure(`The logs of ${stackName} can't be read: ${String(body.__type ?? answer.status)}.`);
  };
  const atMs = requestIdTimeMs(requestId);
  const { queryId } = await call('StartQuery', {
    logGroupNames: groups.slice(0, maxGroups),
    startTime: Math.floor((atMs - minuteMs) / 1000),
    endTime: Math.ceil((atMs + longestMs) / 1000),
    queryString: `fields @message | filter requestId = "${requestId}" | sort @timestamp asc | limit 50`,
  });
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { status, results = [] } = await call('GetQueryResults', { queryId });
    const rows = results as { field: string; value: string }[][];
    if (status === 'Complete') {
      return rows.flatMap((row) => row.filter(({ field }) => field === '@message').map(({ value }) => value));
    }
    if (status !== 'Scheduled' && status !== 'Running') break;
    await wait(1000);
  }
  throw new Failure(`The logs of ${stackName} did not answer: try again.`);
}
