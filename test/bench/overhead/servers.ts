import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { answering, startChild, temporaryFolder, type Child } from '../children.ts';
import { generationProblem, openAiProblem, send, type Target } from './load.ts';
import { installLiteLlm, installPortkey } from './peers.ts';
import { functionEnvironment, generationBody, prompt, type Caller, type StubWorld } from './stub-world.ts';

/** A server that is measured: started anew for each round, so that each has the machine for itself. */
export interface Server {
  name: string;
  start(): Promise<{ child: Child; target: Target }>;
}

interface Program {
  command: string;
  args: (port: string) => string[];
  env: Record<string, string>;
  folder: string;
  /** Answers as soon as the server does. */
  path?: string;
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const path = process.env.PATH ?? '';

/** Starts a server on a free port, with its log in a file, and waits until it answers. */
async function startServer(program: Program): Promise<{ child: Child; url: string }> {
  const { command, args, env, folder } = program;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(folder, 'server.log');
  const child = startChild(command, args(String(port)), { env, cwd: folder, logFile });
  await answering(url + (program.path ?? ''), child, logFile);
  return { child, url };
}

export function startStub(world: StubWorld): Promise<{ child: Child; url: string }> {
  const folder = temporaryFolder();
  const worldFile = join(folder, 'world.json');
  writeFileSync(worldFile, JSON.stringify(world));
  const args = (port: string) => [here('stub.ts'), port, worldFile];
  return startServer({ command: process.execPath, args, env: {}, folder });
}

/** A picture by OpenAI's API. */
export function openAiTarget(url: string, headers: Record<string, string> = {}): Target {
  return {
    url: `${url}/v1/images/generations`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'image', prompt, size: '1024x1024' }),
    problem: openAiProblem,
  };
}

export function ourServer(stubUrl: string, bundle: string, caller: Caller): Server {
  return {
    name: 'this service',
    async start() {
      const { child, url } = await startServer({
        command: process.execPath,
        args: (port) => [here('front.ts'), port, bundle, '/generate'],
        env: functionEnvironment(stubUrl),
        folder: temporaryFolder(),
      });
      const target = {
        url: `${url}/generate`,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${caller.key}` },
        body: generationBody(caller),
        problem: generationProblem,
      };
      return { child, target };
    },
  };
}

/** Routing only: it knows no keys, no credits and keeps no records. */
export async function portkeyServer(stubUrl: string): Promise<Server> {
  const program = await installPortkey();
  return {
    name: 'Portkey',
    async start() {
      const { child, url } = await startServer({
        command: process.execPath,
        args: (port) => [program, '--headless', `--port=${port}`],
        env: { NODE_ENV: 'production', PATH: path, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
        folder: temporaryFolder(),
      });
      const target = openAiTarget(url, {
        authorization: 'Bearer none',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${stubUrl}/v1`,
      });
      return { child, target };
    },
  };
}

const liteLlmConfig = (stubUrl: string) => `
model_list:
  - model_name: image
    litellm_params:
      model: openai/dall-e-3
      api_base: ${stubUrl}/v1
      api_key: none
      output_cost_per_image: 0.04
litellm_settings:
  callbacks: litellm_keys.count_spend
general_settings:
  custom_auth: litellm_keys.user_api_key_auth
`;

/** Keys with budgets; no database, so no records. */
export async function liteLlmServer(stubUrl: string): Promise<Server> {
  const programs = await installLiteLlm();
  return {
    name: 'LiteLLM',
    async start() {
      const folder = temporaryFolder();
      copyFileSync(here('litellm_keys.py'), join(folder, 'litellm_keys.py'));
      writeFileSync(join(folder, 'config.yaml'), liteLlmConfig(stubUrl));
      const { child, url } = await startServer({
        command: join(programs, 'litellm'),
        args: (port) => `--config config.yaml --host 127.0.0.1 --port ${port} --telemetry False`.split(' '),
        env: {
          PATH: path,
          HOME: folder,
          LITELLM_LOG: 'ERROR',
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          // Without one that looks strong it does not start. Nobody uses it.
          LITELLM_MASTER_KEY: 'sk-bench-master-b01c7a5de2f94a6f8f3e',
        },
        folder,
        path: '/health/liveliness',
      });
      const target = (key: string) => openAiTarget(url, { authorization: `Bearer ${key}` });
      await proveBudgets(target('sk-bench-little'));
      return { child, target: target('sk-bench-plenty') };
    },
  };
}

/** A budget that refuses nothing would be measured for nothing. @throws when a spent key still gets images. */
async function proveBudgets(target: Target): Promise<void> {
  for (let i = 0; i < 20; i++) {
    const { status, body } = await send(target);
    if (body.includes('budget_exceeded')) return;
    if (status !== 200) throw new Error(`LiteLLM answered ${status}: ${body.slice(0, 300)}`);
    // What was spent is counted after the answer.
    await sleep(250);
  }
  throw new Error('LiteLLM never refused the key whose budget is spent.');
}
