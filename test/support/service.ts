import { spawn, type SpawnOptions } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyFile } from '../../local/service.ts';
import { repository } from './repository.ts';
import { until } from './until.ts';

/** The service as its users run it: a process of its own, spoken to over HTTP. */
export interface RunningService {
  dataDir: string;
  ready: ReadyFile;
  /** What it printed so far, on both streams. */
  output(): string;
  api(request: ApiCall): Promise<ApiAnswer>;
  /** Sends a signal and waits for the end. @returns the exit code, null when the signal itself ended it. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ApiCall {
  method?: string;
  path: string;
  /** A raw key or an access token; left out, no Authorization header is sent. */
  key?: string | undefined;
  /** Texts and forms are sent as they are, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  body: any;
}

/** This environment variable names the data folder of the service that all files of the http project share. */
export const sharedServiceVariable = 'SHARED_SERVICE_DATA';

/** Generous, because the machine may be busy. */
const startWithinMs = 120_000;

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'image-service-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A program of the repository, as it runs. */
export interface Program {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, null when a signal ended it. */
  ended: Promise<number | null>;
  hasEnded(): boolean;
  /** To the program itself, not to its children. */
  kill(signal: NodeJS.Signals): void;
}

export function startProgram(file: string, args: string[], options: SpawnOptions = {}): Program {
  const child = spawn(file, args, { cwd: repository, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr, hasEnded] = ['', '', false];
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  return {
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    hasEnded: () => hasEnded,
    kill: (signal) => void child.kill(signal),
  };
}

/** Waits for `ready.json` of a service that was started on a folder without one. */
export async function readyFile({ hasEnded, stderr }: Program, dataDir: string): Promise<ReadyFile> {
  const path = join(dataDir, 'ready.json');
  const isReady = () => {
    if (hasEnded()) throw new Error(`the service did not start:\n${stderr()}`);
    return existsSync(path);
  };
  await until('the service is ready', isReady, startWithinMs);
  return JSON.parse(readFileSync(path, 'utf8')) as ReadyFile;
}

/**
 * Starts a service as `npm start` does, on a free port, and waits until it says that it is ready.
 * @param options.env beside the test's own
 * @param options.samples whether it generates samples, which takes the machine some seconds
 */
export async function startService(
  options: { dataDir?: string; args?: string[]; env?: Record<string, string>; samples?: boolean } = {},
): Promise<RunningService> {
  const { dataDir = temporaryFolder(), args = [], samples = false } = options;
  rmSync(join(dataDir, 'ready.json'), { force: true });
  const own = ['--port', '0', '--data', dataDir, ...(samples ? [] : ['--no-samples'])];
  const env = { ...process.env, ...options.env };
  const program = startProgram(process.execPath, ['bin/local.ts', ...own, ...args], { env });
  try {
    const ready = await readyFile(program, dataDir);
    return {
      dataDir,
      ready,
      output: () => program.stdout() + program.stderr(),
      api: (call) => callApi(ready.baseUrl, call),
      end(signal = 'SIGTERM') {
        program.kill(signal);
        return program.ended;
      },
    };
  } catch (error) {
    program.kill('SIGKILL');
    throw error;
  }
}

const isAsItIs = (body: unknown) => typeof body === 'string' || body instanceof FormData;

export async function callApi(baseUrl: string, call: ApiCall): Promise<ApiAnswer> {
  const { method = call.body === undefined ? 'GET' : 'POST', path, key, body, headers = {}, signal } = call;
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isAsItIs(body) ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}
