import { constants } from 'node:os';
import { S3Client } from '@aws-sdk/client-s3';
import { Command } from 'commander';
import { runCommand, signals, withOptions, type OptionRow } from '../common/command-line.ts';
import type { PlaceFlags } from '../common/connection.ts';
import { asFailure } from '../common/failure.ts';
import { printable } from '../common/output.ts';
import { openStores } from '../common/stores.ts';
import { id, nonEmpty, region as regionValue } from '../common/values.ts';
import { checks, type Work } from './checks.ts';
import { makeFixture, planFixture, removeFixture, tracesOf, type SmokeFixture } from './fixture.ts';
import { findSmokePlace } from './place.ts';

interface Flags extends Omit<PlaceFlags, 'table'> {
  identity?: string;
  json?: boolean;
}

const description =
  'Checks a running Image Generation Service with a temporary license and key: the local one, or a deployed stack.\n' +
  'It generates one small image and removes everything that it made.';
const example = '\nExample: npm run smoke -- --stack image-generation-prod --region eu-west-1';
const ofLocal = 'the local service that runs on this data folder (default: .local)';
const rows: OptionRow[] = [
  ['--stack <name>', 'this deployed stack', nonEmpty],
  ['--region <region>', 'its AWS region (default: AWS_REGION)', regionValue],
  ['--data <dir>', ofLocal, nonEmpty, { conflicts: ['stack'] }],
  ['--identity <id>', 'generate with this identity (default: a temporary one)', id],
  ['--json', 'print exactly one JSON object, for programs'],
];

/** Checks a running service from outside. @returns the exit code: 0 all checks passed, 1 some failed, 2 wrong usage */
export function runSmoke(args: string[]): Promise<number> {
  const command = withOptions(new Command('smoke').description(description), rows);
  return runCommand(command.addHelpText('after', example), args, () => smoke(command.opts<Flags>()));
}

async function smoke({ identity, json = false, ...flags }: Flags): Promise<number> {
  const place = await findSmokePlace(flags);
  const [stores, s3] = [openStores(place.tableName), new S3Client({})];
  try {
    return await report(await planFixture({ place, stores, s3 }, identity), json);
  } catch (error) {
    throw asFailure(error, place);
  } finally {
    stores.close();
    s3.destroy();
  }
}

/** npm may pass on a signal that the terminal already sent to all processes: two signals within this time are one Ctrl-C. */
const sameSignalMs = 500;

/** Runs the checks and prints what they found. @returns the exit code */
async function report(fixture: SmokeFixture, json: boolean): Promise<number> {
  const { name, baseUrl } = fixture.place;
  const print = (text: string) => void (json || process.stdout.write(`${text}\n`));
  const stop = { code: 0, atMs: 0 };
  const interrupt = (signal: NodeJS.Signals) => {
    if (stop.code === 0) {
      Object.assign(stop, { code: 128 + constants.signals[signal], atMs: Date.now() });
      console.error('Stopping after this check, to clean up. Press Ctrl-C again to leave at once.');
    } else if (Date.now() - stop.atMs >= sameSignalMs) {
      console.error(`Left without cleaning up: remove ${tracesOf(fixture)} by hand.`);
      process.exit(stop.code);
    }
  };
  for (const signal of signals) process.on(signal, interrupt);
  print(`Checking ${name}: ${baseUrl}\n`);
  const results: CheckResult[] = [];
  for await (const result of resultsOf(fixture, () => stop.code > 0)) {
    results.push(result);
    print(lineOf(result));
  }
  for (const signal of signals) process.off(signal, interrupt);
  const count = (status: CheckResult['status']) => results.filter((one) => one.status === status).length;
  const [failed, skipped] = [count('failed'), count('skipped')];
  print(`\n${count('passed')} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
  const whole = { place: name, baseUrl, passed: failed === 0, checks: results };
  if (json) process.stdout.write(`${JSON.stringify(whole)}\n`);
  return stop.code || Number(failed > 0);
}

export interface CheckResult {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  /** Why it failed or was skipped, null for a check that passed. */
  reason: string | null;
}

/** Runs every check, also after a failed one, then removes everything that the run made. After an interruption it only removes. */
async function* resultsOf(fixture: SmokeFixture, isInterrupted: () => boolean): AsyncGenerator<CheckResult> {
  yield await measured('a temporary license and key are made', makeFixture, fixture);
  for (const { name, skip, run } of fixture.issued ? checks : []) {
    const reason = isInterrupted() ? 'the run was interrupted' : skip(fixture);
    if (reason === null) yield await measured(name, run, fixture);
    else yield { name, status: 'skipped', durationMs: 0, reason };
  }
  const cleaned = 'everything made for the checks is removed, and nothing is left';
  const { reason, ...result } = await measured(cleaned, removeFixture, fixture);
  yield { ...result, reason: reason && `${reason} Remove ${tracesOf(fixture)} by hand.` };
}

async function measured(name: string, work: Work, fixture: SmokeFixture): Promise<CheckResult> {
  const startMs = performance.now();
  const sentence = (error: unknown) => asFailure(error, fixture.place).message;
  const reason = await work(fixture).then(() => null, sentence);
  const durationMs = Math.round(performance.now() - startMs);
  return { name, status: reason === null ? 'passed' : 'failed', durationMs, reason };
}

/** One line about one check. */
function lineOf({ name, status, durationMs, reason }: CheckResult): string {
  const why = reason === null ? '' : `: ${reason}`;
  if (status === 'skipped') return printable(`– ${name}: skipped, ${reason}`);
  return printable(`${status === 'passed' ? '✓' : '✗'} ${name} (${durationMs} ms)${why}`);
}
