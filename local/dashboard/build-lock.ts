import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until this process holds the lock, a file with the id of its owner's process. A lock is taken over when its
 * owner has died, or is older than `staleAfterMs`, since another process may have got a dead one's id.
 * @returns a function that gives the lock back.
 * @throws the signal's reason.
 */
export async function takeLock(path: string, staleAfterMs: number, signal: AbortSignal): Promise<() => void> {
  const owner = String(process.pid);
  while (!create(path, owner)) {
    const abandonedBy = abandonedOwner(path, staleAfterMs);
    if (abandonedBy === null) await pause(200, undefined, { signal });
    else removeLockOf(abandonedBy, path);
  }
  return () => {
    if (ownerOf(path) === owner) rmSync(path, { force: true });
  };
}

/** A link appears with its content, so that nobody ever reads a lock without an owner. */
function create(path: string, owner: string): boolean {
  const draft = `${path}.${owner}`;
  writeFileSync(draft, owner);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** @returns whose lock may be taken over; null when there is none, or its owner is at work. */
function abandonedOwner(path: string, staleAfterMs: number): string | null {
  const owner = ownerOf(path);
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (owner === null || since === undefined) return null;
  return !isRunning(Number(owner)) || Date.now() - since > staleAfterMs ? owner : null;
}

/** Between the look and the removal another process may have taken the lock over: only the one that was judged goes. */
function removeLockOf(owner: string, path: string): void {
  const aside = `${path}.${process.pid}.aside`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (ownerOf(aside) === owner) rmSync(aside);
  else renameSync(aside, path);
}

function ownerOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
