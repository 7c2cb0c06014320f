import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Actor } from '../../shared/accounts/audit.ts';
import { catalogLifetimeMs } from '../../shared/identities/store.ts';
import { openAccounts, type Accounts } from '../common/accounts.ts';
import { findPlace, operatorOf, type Place, type PlaceFlags } from '../common/connection.ts';
import { withOptions, type Kind, type OptionRow } from '../common/command-line.ts';
import { asFailure, Failure } from '../common/failure.ts';
import type { LogPlace } from '../common/logs.ts';
import type { Answer } from '../common/output.ts';
import type { Terminal } from '../common/prompt.ts';
import type { Stores } from '../common/stores.ts';

/** A change that takes access away. */
export interface Reduction {
  /** What will be done, such as "end the license lic_1". */
  what: string;
  /** What its owners lose by it. */
  losses: string[];
}

/** What a command works with after its operands and options were checked. */
export interface Session {
  stores: Stores;
  /** Who the owners of licenses are. */
  accounts: Accounts;
  /** Where images lie; null where only a table was named. */
  bucketName: string | null;
  logs: LogPlace | null;
  /** Of the API; null where only a table was named, and while the local service does not run. */
  baseUrl: string | null;
  /** When the command began, milliseconds since 1970. */
  nowMs: number;
  /** Waits until every function must have seen a change of the catalog. */
  untilSeen(): Promise<void>;
  /** Who works with it: asked for by commands that change something, before they do. */
  operator(): Promise<Actor>;
  /** Asks the operator. @throws Failure when they do not agree: then change nothing. */
  confirm(reduction: Reduction): Promise<void>;
}

interface SessionFlags extends PlaceFlags {
  json?: boolean;
  yes?: boolean;
  /** False: not. True by default. */
  wait?: boolean;
}

export type OperandRow = [syntax: string, description: string, kind: Kind];

/** One command, as data. */
export interface CommandRow {
  name: string;
  description: string;
  usage?: string;
  operands?: OperandRow[];
  options?: OptionRow[];
  /** Of a command that takes something away: what it asks before. */
  asksBefore?: string;
  examples?: string[];
  /** Checks what was given before anything is looked up. @returns the work on the table that the options name */
  run(options: any, ...operands: any[]): Work;
}

type Work = (session: Session) => Promise<Answer>;

export const accessIsTakenAway = 'access is taken away';

/** Commands about one thing. */
export interface CommandGroup extends Pick<CommandRow, 'name' | 'description' | 'examples'> {
  commands: CommandRow[];
}

export function addCommands(parent: Command, rows: readonly (CommandRow | CommandGroup)[]): void {
  for (const row of rows) {
    const command = parent.command(row.name).description(row.description);
    if (row.examples !== undefined) withExamples(command, row.examples);
    if ('commands' in row) {
      addCommands(command, row.commands);
      continue;
    }
    const { usage, operands = [], options = [], asksBefore, run } = row;
    if (usage !== undefined) command.usage(usage);
    for (const [syntax, what, kind] of operands) {
      command.argument(syntax, what, kind(syntax.slice(1, -1).toUpperCase()));
    }
    withOptions(command, options);
    if (asksBefore !== undefined) command.option('-y, --yes', `do not ask before ${asksBefore}`);
    command.action((...given: any[]) => {
      const operandsGiven = given.slice(0, operands.length);
      return answer(command, run(command.opts(), ...operandsGiven));
    });
  }
}

/** Runs a command on the table that its options name, and prints its answer. @throws Failure */
async function answer(command: Command, work: Work): Promise<void> {
  const flags = command.optsWithGlobals<SessionFlags>();
  let place: Place | null = null;
  let stores: Stores | null = null;
  try {
    place = await findPlace(flags);
    const { openStores } = await import('../common/stores.ts');
    stores = openStores(place.tableName);
    const session = {
      stores,
      accounts: openAccounts(place.userPool),
      bucketName: place.bucketName,
      baseUrl: place.baseUrl,
      logs: place.logs,
      nowMs: Date.now(),
      untilSeen: () => setTimeout(flags.wait === false ? 0 : catalogLifetimeMs + 1000),
      operator: () => operatorOf(place!),
      confirm: asking(flags, place.name),
    };
    const { json, text } = await work(session);
    process.stdout.write(`${flags.json ? JSON.stringify(json) : text}\n`);
  } catch (error) {
    throw asFailure(error, place);
  } finally {
    stores?.close();
  }
}

function asking(flags: SessionFlags, placeName: string): Session['confirm'] {
  if (flags.yes) return async () => {};
  return (reduction) =>
    confirmReduction(reduction, placeName, { input: process.stdin, output: process.stderr });
}

/** Asks before access is taken away. @throws Failure when it is not confirmed, or stdin is no terminal. */
export async function confirmReduction(
  { what, losses }: Reduction,
  placeName: string,
  terminal: Terminal,
): Promise<void> {
  if (!terminal.input.isTTY) {
    throw new Failure(`Nothing was changed: add --yes to ${what}, as stdin is not a terminal to ask on.`);
  }
  const { isConfirmed } = await import('../common/prompt.ts');
  const lines = [`On ${placeName}, this will ${what}:`, ...losses.map((loss) => `  - ${loss}`)];
  if (!(await isConfirmed(lines, 'Go on?', terminal))) {
    throw new Failure('Nothing was changed: it was not confirmed.');
  }
}

/** Examples below a command's help. */
export function withExamples(command: Command, examples: string[]): Command {
  const lines = examples.map((example) => `  npm run --silent admin -- ${example}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
