import { useNavigate } from 'react-router';
import { toast } from 'sonner';
import { useApi } from '@/api/api-context.ts';
import { ApiError } from '@/api/api-error.ts';
import type { Api } from '@/api/client.ts';
import { useRefreshAfterGeneration } from '@/api/queries.ts';
import { readRefusals } from './references/refusals.ts';
import { readyText } from './results.ts';
import type { Order } from './run-store.ts';
import { referenceStore, runStore } from './stores.ts';

/** @returns what sends an order; `upload` completes it first with its reference images. */
export function useStartRun(): (order: Order, options?: { upload: boolean }) => void {
  const api = useApi();
  const refresh = useRefreshAfterGeneration();
  const navigate = useNavigate();
  const action = { label: 'Show', onClick: () => void navigate('/playground') };
  return (order, { upload } = { upload: false }) => {
    void runStore.start(api, order, {
      prepare:
        upload && order.references.length > 0
          ? (given, signal) => withUploads(api, given, signal)
          : undefined,
      onChange: () => void refresh(order.body.licenseId),
      onDone: (result) => {
        if (isElsewhere()) toast.success(readyText(result), { action, duration: 10_000 });
      },
      onFailed: (error, { references }) => {
        const known = error instanceof ApiError ? error : null;
        if (known?.code === 'INVALID_PARAMETERS')
          referenceStore.refuse(references, readRefusals(known.message));
        if (!isElsewhere()) return;
        const description = known?.message;
        toast.error('The playground could not make your image.', { action, description, duration: 10_000 });
      },
    });
  };
}

async function withUploads(api: Api, order: Order, signal: AbortSignal): Promise<Order> {
  const { body, references } = order;
  const to = { api, licenseId: body.licenseId };
  const referenceImages = await referenceStore.ready(references, to, signal);
  return { ...order, body: { ...body, referenceImages }, references: referenceStore.latest(references) };
}

function isElsewhere(): boolean {
  return window.location.pathname !== '/playground';
}
