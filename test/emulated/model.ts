import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startSageMakerRuntime } from '../../local/sagemaker/engine.ts';
import { inRepository } from '../support/repository.ts';

const painter = inRepository('painter/src/main.ts');

/**
 * Starts the SageMaker runtime of this repository, with the painter as the container of one endpoint.
 * @param environment of the painter, which puts images to presigned links.
 */
export async function startModel(endpointName: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, [painter, '--port', '0'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The painter ended with ${code}.`);
    }),
  ])) as [Buffer];
  const container = /http:\S+/.exec(line.toString())![0];
  const engine = await startSageMakerRuntime({ endpoints: { [endpointName]: container } });
  return {
    url: engine.url,
    async close() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.all([exit, engine.close()]);
    },
  };
}
