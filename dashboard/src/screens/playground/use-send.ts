import { useRef } from 'react';
import { useNavigate } from 'react-router';
import type { GenerationCommand } from './run-store.ts';
import { formStore } from './stores.ts';
import { isElsewhere, useStartRun } from './use-start-run.ts';

type Order = Omit<GenerationCommand, 'idempotencyKey'>;

/**
 * @returns a function that sends a request and uploads its images first. With another version to compare with it sends the same
 * for that one, and shows both once they are accepted.
 */
export function useSend(): (order: Order, otherVersion?: number | null) => Promise<void> {
  const navigate = useNavigate();
  const startRun = useStartRun();
  // Of a pair that was sent in part: a repeat sends what is missing, and charges nothing twice.
  const pair = useRef(new Map<string, { key: string; requestId: string | null }>());
  const send = (order: Order, idempotencyKey: string = crypto.randomUUID()) =>
    startRun({ ...order, idempotencyKey }, { upload: true });
  return async (order, otherVersion = null) => {
    if (otherVersion === null) return void (await send(order));
    // Each version would draw its own.
    const [drawn] = crypto.getRandomValues(new Uint32Array(1));
    const first = { seed: drawn!, ...order.body };
    formStore.change({ seed: String(first.seed) });
    const ids: string[] = [];
    for (const body of [first, { ...first, identityVersion: otherVersion }]) {
      const name = JSON.stringify([body, order.references]);
      const { key, requestId } = pair.current.get(name) ?? { key: crypto.randomUUID(), requestId: null };
      const accepted = requestId ?? (await send({ ...order, body }, key));
      pair.current.set(name, { key, requestId: accepted });
      if (accepted === null) return;
      ids.push(accepted);
    }
    pair.current.clear();
    // Whoever has left finds both in the history.
    if (!isElsewhere()) void navigate(`/history/compare?a=${ids[0]}&b=${ids[1]}`);
  };
}
