import type { Command } from 'commander';
import type { Actor } from '../../shared/accounts/audit.ts';
import { openAccounts, type Accounts } from '../common/accounts.ts';
import { findPlace, type Place, type PlaceFlags } from '../common/connection.ts';
import { asFailure } from '../common/failure.ts';
import type { Answer } from '../common/output.ts';
import type { Reduction } from './prompt.ts';
import type { Stores } from '../common/stores.ts';

/** What a command works with after its operands and options were checked. */
export interface Session {
  stores: Stores;
  /** Who the owners of licenses are. */
  accounts: Accounts;
  /** Where images lie; null where only a table was named. */
  bucketName: string | null;
  /** When the command began, milliseconds since 1970. */
  nowMs: number;
  /** Who works with it: asked for by commands that change something, before they do. */
  operator(): Promise<Actor>;
  /** Asks the operator. @throws Failure when they do not agree: then change nothing. */
  confirm(reduction: Reduction): Promise<void>;
}

interface SessionFlags extends PlaceFlags {
  json?: boolean;
  yes?: boolean;
}

/** Runs a command on the table that its options name, and prints its answer. @throws Failure */
export async function answer(command: Command, work: (session: Session) => Promise<Answer>): Promise<void> {
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
      nowMs: Date.now(),
      operator: operatorAt(place),
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

function operatorAt(place: Place): Session['operator'] {
  return async () => (await import('../common/operator.ts')).operatorOf(place);
}

function asking(flags: SessionFlags, placeName: string): Session['confirm'] {
  if (flags.yes) return async () => {};
  return async (reduction) => {
    const { confirmReduction } = await import('./prompt.ts');
    await confirmReduction(reduction, placeName, { input: process.stdin, output: process.stderr });
  };
}

/** The option of every command that takes something away, access by default. */
export function withYes(command: Command, before = 'access is taken away'): Command {
  return command.option('-y, --yes', `do not ask before ${before}`);
}

/** Examples below a command's help. */
export function withExamples(command: Command, examples: string[]): Command {
  const lines = examples.map((example) => `  npm run --silent admin -- ${example}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
