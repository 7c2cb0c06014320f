import { fileURLToPath } from 'node:url';
import { BuildError, ensureBuilt } from '../local/dashboard/build.ts';

/** Builds the dashboard unless its build is up to date. */
try {
  const folder = fileURLToPath(new URL('../dashboard', import.meta.url));
  const built = await ensureBuilt({ folder, signal: new AbortController().signal });
  console.log(built ? 'The dashboard was built.' : 'The dashboard is built already.');
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`${error.message}\n${error.output}`);
  process.exitCode = 1;
}
