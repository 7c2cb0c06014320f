import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { callApi, readyFile, startProgram, type Program, type RunningService } from './service.ts';

/** A command as a terminal runs it: in a process group of its own. */
export interface Command extends Program {
  /** To every process of the group, as Ctrl-C does. */
  signal(signal: NodeJS.Signals): void;
  /** Whether any process of the group, the command itself or a child, is still there. */
  groupLives(): boolean;
}

const started = new Set<Command>();

/** Leaves nothing behind, whatever a test did. */
export async function endCommands(): Promise<void> {
  for (const command of started) command.signal('SIGKILL');
  await Promise.all([...started].map(({ ended }) => ended));
}

function start(file: string, args: string[]): Command {
  const program = startProgram(file, args, { detached: true });
  const toGroup = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-program.pid, signal);
    } catch {
      return false;
    }
  };
  const signal = (name: NodeJS.Signals) => void toGroup(name);
  const command: Command = { ...program, signal, groupLives: () => toGroup(0) };
  started.add(command);
  return command;
}

/** `npm start -- …`, npm included. */
export function npmStart(args: string[]): Command {
  return start('npm', ['start', '--', ...args]);
}

/** What `npm start` runs, without npm's own words on the streams. */
export function startCommand(args: string[]): Command {
  return start(process.execPath, ['bin/local.ts', ...args]);
}

/** Runs a command that is expected to end by itself; one that does not is killed. */
export async function runToEnd(
  args: string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = startCommand(args);
  const kill = setTimeout(() => command.signal('SIGKILL'), 60_000);
  const code = await command.ended;
  clearTimeout(kill);
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

/** A service that runs as a command, to be stopped as its user stops it. */
export interface CommandService extends Pick<RunningService, 'ready' | 'dataDir' | 'api'> {
  command: Command;
}

/** Starts a service without samples on a data folder, which may be a former service's, and waits until it is ready. */
export async function startOn(dataDir: string, ...args: string[]): Promise<CommandService> {
  rmSync(join(dataDir, 'ready.json'), { force: true });
  const command = startCommand(['--port', '0', '--data', dataDir, '--no-samples', ...args]);
  const ready = await readyFile(command, dataDir);
  return { ready, dataDir, command, api: (call) => callApi(ready.baseUrl, call) };
}

/** Ends it and waits. @throws when it does not end well. */
export async function end({ command }: CommandService, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  command.signal(signal);
  const code = await command.ended;
  if (code !== 0) throw new Error(`the service ended with ${code}:\n${command.stderr()}`);
}
