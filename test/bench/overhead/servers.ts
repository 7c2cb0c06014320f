import { copyFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { answering, startChild, temporaryFolder, type Child } from '../children.ts';
import { generationProblem, openAiProblem, send, type Target } from './load.ts';
import { installLiteLlm, installPortkey } from './peers.ts';
import { functionEnvironment, prompt, type Caller } from './stub-world.ts';

/** A server that is measured: started anew for each round, so that each has the machine for itself. */
export interface Server {
  name: string;
  start(): Promise<{ child: Child; target: Target }>;
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const json = { 'content-type': 'application/json' };
const imageBody = JSON.stringify({ model: 'image', prompt, size: '1024x1024' });
const path = process.env.PATH ?? '';

export async function startStub(worldFile: string): Promise<{ child: Child; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(dirname(worldFile), 'stub.log');
  const child = startChild(process.execPath, [here('stub.ts'), String(port), worldFile], {
    env: {},
    logFile,
  });
  await answering(url, child, logFile, 20);
  return { child, url };
}

/** What every server's figures are beside: the same client, and one call of the model. */
export function stubTarget(stubUrl: string): Target {
  return { url: `${stubUrl}/v1/images/generations`, headers: json, body: imageBody, problem: openAiProblem };
}

export function ourServer(stubUrl: string, bundle: string, caller: Caller, nodeFlags: string[] = []): Server {
  return {
    name: 'this service',
    async start() {
      const port = await freePort();
      const logFile = join(temporaryFolder(), 'front.log');
      const args = [...nodeFlags, here('front.ts'), String(port), bundle, '/generate'];
      const child = startChild(process.execPath, args, { env: functionEnvironment(stubUrl), logFile });
      const url = `http://127.0.0.1:${port}`;
      await answering(url, child, logFile, 20);
      const target = {
        url: `${url}/generate`,
        headers: { ...json, authorization: `Bearer ${caller.key}` },
        body: JSON.stringify({ identityId: caller.identityId, prompt, width: 1024, height: 1024 }),
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
      const port = await freePort();
      const logFile = join(temporaryFolder(), 'portkey.log');
      const env = { NODE_ENV: 'production', PATH: path, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
      const args = [program, '--headless', `--port=${port}`];
      const child = startChild(process.execPath, args, { env, logFile });
      const url = `http://127.0.0.1:${port}`;
      await answering(url, child, logFile, 30);
      const headers = {
        ...json,
        authorization: 'Bearer none',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${stubUrl}/v1`,
      };
      return {
        child,
        target: { url: `${url}/v1/images/generations`, headers, body: imageBody, problem: openAiProblem },
      };
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
      const port = await freePort();
      const folder = temporaryFolder();
      const logFile = join(folder, 'litellm.log');
      copyFileSync(here('litellm_keys.py'), join(folder, 'litellm_keys.py'));
      writeFileSync(join(folder, 'config.yaml'), liteLlmConfig(stubUrl));
      const env = {
        PATH: path,
        HOME: folder,
        LITELLM_LOG: 'ERROR',
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        // Without one that looks strong it does not start. Nobody uses it.
        LITELLM_MASTER_KEY: 'sk-bench-master-b01c7a5de2f94a6f8f3e',
      };
      const args = [
        '--config',
        'config.yaml',
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--telemetry',
        'False',
      ];
      const child = startChild(join(programs, 'litellm'), args, { env, cwd: folder, logFile });
      const url = `http://127.0.0.1:${port}`;
      await answering(`${url}/health/liveliness`, child, logFile, 120);
      const target = (key: string): Target => ({
        url: `${url}/v1/images/generations`,
        headers: { ...json, authorization: `Bearer ${key}` },
        body: imageBody,
        problem: openAiProblem,
      });
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
