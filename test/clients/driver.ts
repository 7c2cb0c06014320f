import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pythonClient } from '../support/python.ts';
import { inRepository } from '../support/repository.ts';

/** What a driver gets, as a line of JSON. It answers each with a line of its own, when the call has ended. */
export interface Command {
  call: number;
  /** How the image is asked for. */
  kind: 'generate' | 'events' | 'async';
  apiKey: string;
  /** Of the API, behind the proxy. */
  baseUrl: string;
  /** Where images are really, and the proxy that is asked for them. */
  storage: { url: string; proxyUrl: string };
  idempotencyKey: string;
  /** In the service's own names. */
  body: { identityId: string; prompt: string; numOutputs: number; [name: string]: unknown };
}

export interface Outcome {
  call: number;
  requestId?: string;
  creditsCharged?: number;
  /** The text of each image's file. */
  images?: string[];
  /** The name and the text of what was thrown. */
  error?: string;
}

export interface Driver {
  run(command: Command): Promise<Outcome>;
  end(): Promise<void>;
}

export const clients = ['typescript', 'python'] as const;
export type ClientName = (typeof clients)[number];

const driver = (name: string): string => inRepository(`test/clients/drivers/${name}`);

/** How a client's driver is started; null where the client is not installed. */
const programs: Record<ClientName, { command: string[]; env?: Record<string, string> } | null> = {
  typescript: { command: [process.execPath, driver('typescript.ts')] },
  python: pythonClient && { command: [pythonClient.python, driver('python.py')], env: pythonClient.env },
};

export const isInstalled = (client: ClientName): boolean => programs[client] !== null;

/** Starts a program that calls the service by one of the clients. */
export function startDriver(client: ClientName): Driver {
  const { command, env } = programs[client]!;
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const waiting = new Map<number, (outcome: Outcome) => void>();
  createInterface(child.stdout).on('line', (line) => {
    const outcome = JSON.parse(line) as Outcome;
    waiting.get(outcome.call)?.(outcome);
    waiting.delete(outcome.call);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      for (const [call, end] of waiting) end({ call, error: 'the driver ended' });
      resolve();
    });
  });
  return {
    run(sent) {
      return new Promise((resolve) => {
        waiting.set(sent.call, resolve);
        child.stdin.write(`${JSON.stringify(sent)}\n`);
      });
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
