import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts the engine in a process of its own. `kill` is SIGKILL: nothing in it gets to finish. */
export async function spawnEngine(folder: string): Promise<{ url: string; kill(): Promise<void> }> {
  const program = fileURLToPath(new URL('engine-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async kill() {
      if (child.signalCode) return;
      const isGone = once(child, 'exit');
      child.kill('SIGKILL');
      await isGone;
    },
  };
}
