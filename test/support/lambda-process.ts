import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface LambdaAnswer {
  returned?: any;
  /** A streamed answer, prelude and all. */
  streamed?: Buffer;
  failed?: string;
}

/** A deployed bundle in a process of its own, with only the environment of its function. */
export interface LambdaProcess {
  streams: boolean;
  invoke(event: unknown): Promise<LambdaAnswer>;
  /** Its log so far. */
  log(): string;
  end(): Promise<void>;
}

const runtime = fileURLToPath(new URL('lambda-runtime.js', import.meta.url));

export async function startLambda(
  bundle: string,
  environment: Record<string, string>,
): Promise<LambdaProcess> {
  const child = spawn(process.execPath, [runtime, pathToFileURL(bundle).href], {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting: ((answer: any) => void)[] = [];
  let log = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('@')) waiting.shift()?.(JSON.parse(line.slice(1)));
    else log += `${line}\n`;
  });
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      for (const answer of waiting.splice(0)) answer({ failed: `the process ended: ${log}` });
      resolve();
    });
  });
  const next = () => new Promise<any>((resolve) => waiting.push(resolve));
  const first = await next();
  if (!first.ready) throw new Error(first.failed);
  return {
    streams: first.streams,
    async invoke(event) {
      const answer = next();
      child.stdin.write(`${JSON.stringify(event)}\n`);
      const { streamed, ...rest } = await answer;
      return streamed === undefined ? rest : { streamed: Buffer.from(streamed, 'base64') };
    },
    log: () => log,
    end() {
      child.stdin.end();
      return ended;
    },
  };
}
