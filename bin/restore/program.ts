import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Command } from 'commander';
import { isoTime } from '../../shared/base/clock.ts';
import { confirmReduction } from '../admin/command.ts';
import { runCommand, withOptions, type OptionRow } from '../common/command-line.ts';
import { operatorOf, stackOutputs } from '../common/connection.ts';
import { asFailure, Failure } from '../common/failure.ts';
import { counted } from '../common/output.ts';
import { functionsOf } from '../common/stack.ts';
import { nonEmpty, region as regionValue, time } from '../common/values.ts';
import { readReserved, type Reserved } from './concurrency.ts';
import { stepsOf, type Restoration, type RestoreOptions, type State } from './steps.ts';
import { describeTable } from './tables.ts';

interface Flags {
  stack: string;
  to: number;
  copy?: string;
  region?: string;
  state?: string;
  dryRun?: boolean;
  yes?: boolean;
}

const description =
  'Puts the table of a deployed stack back to what it was at a moment. The service is closed meanwhile, and what was\n' +
  'revoked, ended or deleted since then stays so. After an interruption the same command goes on.';
const rows: OptionRow[] = [
  ['--stack <name>', 'this deployed stack', nonEmpty, { required: true }],
  ['--to <time>', 'the last moment when all was well', time, { required: true }],
  ['--copy <table>', 'a table with the state of that moment, where you have restored one already', nonEmpty],
  ['--region <region>', 'the AWS region (default: AWS_REGION)', regionValue],
  ['--state <file>', 'where a run notes how far it is (default: restore-STACK.json)', nonEmpty],
  ['--dry-run', 'print every step and change nothing'],
  ['-y, --yes', 'do not ask before the service is closed and its table replaced'],
];

const usual: RestoreOptions = {
  say: (text) => void process.stdout.write(`${text}\n`),
  pauseMs: 5000,
  drainMs: null,
};

/** Restores the table of a stack. @returns the exit code: 0 done, 1 failed, 2 wrong usage */
export function runRestore(args: string[], options: Partial<RestoreOptions> = {}): Promise<number> {
  const command = withOptions(new Command('restore').description(description), rows);
  command.addHelpText('after', '\nWhat it does, and what is left to do: docs/restoring.md');
  return runCommand(command, args, () => restore(command.opts<Flags>(), { ...usual, ...options }));
}

async function restore(flags: Flags, options: RestoreOptions): Promise<number> {
  const { stack, dryRun = false, yes = false } = flags;
  const { say } = options;
  if (flags.region !== undefined) process.env.AWS_REGION = flags.region;
  const file = fileOf(flags);
  const client = new DynamoDBClient({});
  const place = { name: `the stack ${stack}`, localFolder: null };
  let state: State | null = null;
  try {
    state = readState(file);
    if (state !== null && state.toMs !== flags.to) {
      throw new Failure(`${file} is of a restoration to ${isoTime(state.toMs)}: finish that first.`);
    }
    const { TableName: tableName, BucketName: bucketName } = await stackOutputs(stack, [
      'TableName',
      'BucketName',
    ]);
    state ??= await newState(client, flags, tableName);
    const save = () => writeState(file, state!);
    const by = await operatorOf({
      ...place,
      tableName,
      bucketName,
      userPool: null,
      baseUrl: null,
      logs: null,
    });
    const found = { client, stackName: stack, tableName, bucketName };
    const restoration: Restoration = { ...found, by, state, save, ...options };
    say(
      `${tableName} goes back to ${isoTime(flags.to)}. What its functions had reserved: ${reservedText(state.reserved)}.`,
    );
    if (!dryRun && !yes) {
      const losses = [`all that was stored since ${isoTime(flags.to)}`, 'the service is closed meanwhile'];
      const what = `replace the table ${tableName}`;
      await confirmReduction({ what, losses }, place.name, { input: process.stdin, output: process.stderr });
    }
    if (!dryRun) save();
    for (const [i, step] of stepsOf(restoration).entries()) {
      say(`${i + 1}. ${step.what}`);
      if (dryRun) continue;
      await step.run();
      save();
    }
    if (!dryRun) rmSync(file);
    const next = `npm run smoke -- --stack ${stack}`;
    say(dryRun ? `Nothing was changed.${closedNote(state, flags)}` : `Done. Now: ${next}`);
    return 0;
  } catch (error) {
    const failure = asFailure(error, place);
    throw new Failure(failure.message + closedNote(state, flags), failure.exitCode, { cause: failure });
  } finally {
    client.destroy();
  }
}

const fileOf = ({ stack, state }: Flags) => state ?? `restore-${stack}.json`;

/** Said wherever a run ends early, also one that changed nothing. */
function closedNote(state: State | null, flags: Flags): string {
  if (!state?.isClosed) return '';
  const region = flags.region === undefined ? '' : ` --region ${flags.region}`;
  return ` The service may be closed, until this has come to its end: npm run restore -- --stack ${flags.stack} --to ${isoTime(state.toMs)} --state ${fileOf(flags)}${region}`;
}

/** In one move: half a file would be of no use. */
function writeState(file: string, state: State): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

function readState(file: string): State | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Failure(`${file} can't be read: name another file with --state.`, 1, { cause: error });
  }
}

async function newState(
  client: DynamoDBClient,
  { stack, to, copy }: Flags,
  tableName: string,
): Promise<State> {
  const cloudFormation = new CloudFormationClient({});
  const reserved = await readReserved(await functionsOf(cloudFormation, stack));
  cloudFormation.destroy();
  if (Object.values(reserved.reserved).includes(0)) {
    throw new Failure(
      'A function has 0 reserved: if a restoration is not over, name its file with --state, else give it back what it had.',
    );
  }
  const usualCopy = `${tableName}-then`;
  if (copy === undefined && (await describeTable(client, usualCopy)) !== null) {
    throw new Failure(`There is a table ${usualCopy} already: delete it, or use it by --copy ${usualCopy}.`);
  }
  return { toMs: to, copy: copy ?? usualCopy, ...reserved };
}

function reservedText(reserved: Reserved): string {
  const some = Object.entries(reserved).filter(([, count]) => count !== null);
  const others = counted(Object.keys(reserved).length - some.length, 'function');
  return [...some.map(([name, count]) => `${name} ${count}`), `${others} nothing`].join(', ');
}
