import { CommanderError, Option, type Command } from 'commander';
import { Failure } from './failure.ts';
import { errorLine } from './output.ts';

/** By which a terminal or a system ends a program. */
export const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Prints every mistake in one line. Call it before subcommands are added. */
export function withErrorLines(command: Command): Command {
  return command.configureOutput({ outputError: (text, write) => write(oneSentence(text)) }).exitOverride();
}

/** What an option may be: makes its parser, which names the option in its refusals. */
export type Kind = (name: string) => (text: string, before?: any) => unknown;

export interface MoreOfOption {
  /** What it is without being given. */
  usual?: unknown;
  required?: boolean;
  conflicts?: string[];
}

export type OptionRow = [flags: string, description: string, kind?: Kind | null, more?: MoreOfOption];

export function withOptions(command: Command, rows: readonly OptionRow[]): Command {
  for (const [flags, description, kind, { usual, required = false, conflicts = [] } = {}] of rows) {
    const option = new Option(flags, description).makeOptionMandatory(required).conflicts(conflicts);
    if (kind) option.argParser(kind(/--[\w-]+/.exec(flags)![0]));
    command.addOption(usual === undefined ? option : option.default(usual));
  }
  return command;
}

/** @returns the exit code: 0 done, 1 failed (a Failure), 2 wrong usage. */
export async function parseArguments(command: Command, args: string[]): Promise<number> {
  try {
    await command.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed the mistake or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(errorLine(error.message));
    return error.exitCode;
  }
}

/** Runs a program of one command. @returns the exit code of `work`, or of what kept it from running. */
export async function runCommand(
  command: Command,
  args: string[],
  work: () => Promise<number>,
): Promise<number> {
  let exitCode = 0;
  withErrorLines(command)
    .allowExcessArguments(false)
    .action(async () => void (exitCode = await work()));
  return (await parseArguments(command, args)) || exitCode;
}

/** Joins commander's suggestion, which is on a line of its own. */
function oneSentence(text: string): string {
  return errorLine(text.replace(/^error: /, '').replace(/\n\(Did/, ' (did'));
}
