import { useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import type { PlaygroundBody } from '@/api/generate.ts';
import type { Failure, GenerationCommand } from './run-store.ts';
import { runStore } from './stores.ts';
import { useStartRun } from './use-start-run.ts';

/** @returns a function that sends two requests, one after the other, and then shows both */
export function useComparison(identityName: string) {
  const navigate = useNavigate();
  const startRun = useStartRun();
  const commandOf = useCommands(identityName);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isHalfDone, setHalfDone] = useState(false);
  const compare = async (bodies: readonly PlaygroundBody[]): Promise<void> => {
    const page = window.location.pathname;
    setBusy(true);
    setFailure(null);
    const ids: string[] = [];
    for (const body of bodies) {
      const requestId = await startRun(commandOf(body), { page });
      if (requestId === null) break;
      ids.push(requestId);
    }
    const [a, b] = ids;
    setBusy(false);
    setHalfDone(a !== undefined);
    // Whoever has left meanwhile finds them in the history.
    if (window.location.pathname !== page) return;
    if (b === undefined) setFailure(runStore.takeFailure());
    else void navigate(`/history/compare?${new URLSearchParams({ a: a!, b }).toString()}`);
  };
  return { compare, isBusy, failure, isHalfDone };
}

/** The same body is the same command, with its idempotency key: a repeat after the second was refused does not charge the first again. */
function useCommands(identityName: string): (body: PlaygroundBody) => GenerationCommand {
  const known = useRef(new Map<string, GenerationCommand>());
  return (body) => {
    const name = JSON.stringify(body);
    const command = known.current.get(name) ?? {
      body,
      references: [],
      identityName,
      idempotencyKey: crypto.randomUUID(),
    };
    known.current.set(name, command);
    return command;
  };
}
