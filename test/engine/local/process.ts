import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs an engine in a process of its own, for a test to kill.
 * @param code of a module that starts the engine and prints its address. `kill` is SIGKILL: nothing in it gets to finish.
 */
export async function startProcess(code: string): Promise<{ url: string; kill(): Promise<void> }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
