import { useNavigate } from 'react-router';
import type { GenerationCommand } from './run-store.ts';
import { formStore, pairStore } from './stores.ts';
import { isElsewhere, useStartRun } from './use-start-run.ts';

type Order = Omit<GenerationCommand, 'idempotencyKey'>;

/**
 * @returns a function that sends a request and uploads its images first. With another version to compare with it sends the same
 * for that one, and shows both once they are accepted.
 */
export function useSend(): (order: Order, otherVersion?: number | null) => Promise<void> {
  const navigate = useNavigate();
  const startRun = useStartRun();
  const send = (order: Order, idempotencyKey: string = crypto.randomUUID()) =>
    startRun({ ...order, idempotencyKey }, { upload: true });
  return async (order, otherVersion = null) => {
    if (otherVersion === null) return void (await send(order));
    // Each version would draw its own.
    const [drawn] = crypto.getRandomValues(new Uint32Array(1));
    const body = { seed: drawn!, ...order.body };
    formStore.change({ seed: String(body.seed) });
    const pair = pairStore.begin({ body, references: order.references, otherVersion });
    const [firstKey, secondKey] = pair.keys;
    const firstId = pair.firstId ?? (await send({ ...order, body }, firstKey));
    if (firstId === null) return;
    pairStore.acceptFirst(pair, firstId);
    const second = { ...body, identityVersion: otherVersion };
    const secondId = await send({ ...order, body: second }, secondKey);
    if (secondId === null) return;
    pairStore.end(pair);
    // Whoever has left finds both in the history.
    if (!isElsewhere()) void navigate(`/history/compare?a=${firstId}&b=${secondId}`);
  };
}
