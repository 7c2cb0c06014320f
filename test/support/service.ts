import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyFile } from '../../local/service.ts';
import { repository } from './repository.ts';

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
  /** Text is sent as it is, anything else as JSON. */
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

export interface ServiceProcess {
  child: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
}

/**
 * Starts `bin/local.ts` as `npm start` does, without waiting for it.
 * @param env beside the test's own
 */
function spawnService(args: string[], env: Record<string, string> = {}): ServiceProcess {
  const child = spawn(process.execPath, ['bin/local.ts', ...args], {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { child, output: () => output, ended };
}

/**
 * Starts a service on a free port and waits until it says that it is ready.
 * @param options.samples whether it paints samples, which takes the machine some seconds
 */
export async function startService(
  options: { dataDir?: string; args?: string[]; env?: Record<string, string>; samples?: boolean } = {},
): Promise<RunningService> {
  const dataDir = options.dataDir ?? temporaryFolder();
  rmSync(join(dataDir, 'ready.json'), { force: true });
  const args = [...(options.samples ? [] : ['--no-samples']), ...(options.args ?? [])];
  const service = spawnService(['--port', '0', '--data', dataDir, ...args], options.env);
  const readyPath = join(dataDir, 'ready.json');
  const untilMs = Date.now() + startWithinMs;
  while (!existsSync(readyPath)) {
    if (service.child.exitCode !== null || Date.now() > untilMs) {
      service.child.kill('SIGKILL');
      throw new Error(`the service did not start:\n${service.output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const ready = JSON.parse(readFileSync(readyPath, 'utf8')) as ReadyFile;
  return {
    dataDir,
    ready,
    output: service.output,
    api: (call) => callApi(ready.baseUrl, call),
    end(signal = 'SIGTERM') {
      service.child.kill(signal);
      return service.ended;
    },
  };
}

export async function callApi(baseUrl: string, call: ApiCall): Promise<ApiAnswer> {
  const { method = call.body === undefined ? 'GET' : 'POST', path, key, body, headers = {}, signal } = call;
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
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
