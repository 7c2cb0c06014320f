import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeBlocks } from '../../support/documents.ts';
import { freePort } from '../../support/free-port.ts';
import { pythonPath } from '../../support/python.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { until } from '../../support/until.ts';

export interface LiteLlm {
  baseUrl: string;
  /** What its callers send. */
  key: string;
  close(): Promise<void>;
}

/** The documentation's, which reads our key from the environment, and one more entry that asks for the images themselves. */
function configFor(apiBase: string): string {
  const [shown] = codeBlocks('docs/api/openai.md').filter(({ language }) => language === 'yaml');
  const own = shown!.text.replace('http://127.0.0.1:4600/api/v1/openai/v1', apiBase);
  const [, entry] = own.split('\n  - ');
  return `${own}
  - ${entry!.replace('aurora', 'aurora-bytes')}
      extra_body: { response_format: b64_json }
`;
}

/** Starts LiteLLM's proxy in front of the format. Generous, because it takes some 16 seconds of a core. */
export async function startLiteLlm(apiBase: string, apiKey: string): Promise<LiteLlm> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.yaml'), configFor(apiBase));
  const port = await freePort();
  const key = 'sk-master-b01c7a5de2f94a6f8f3e';
  const args = `--config config.yaml --host 127.0.0.1 --port ${port} --telemetry False`.split(' ');
  const child = spawn(join(pythonPath, 'litellm'), args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      IMAGE_API_KEY: apiKey,
      LITELLM_LOG: 'ERROR',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_MASTER_KEY: key,
    },
    // It writes a stack for each request that is refused.
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => {
    if (child.exitCode !== null) throw new Error('LiteLLM ended');
    return fetch(`${url}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until('LiteLLM is up', isUp, 240_000, 500);
  return {
    baseUrl: `${url}/v1`,
    key,
    async close() {
      child.kill('SIGKILL');
      await ended;
      removeFolder(folder);
    },
  };
}
