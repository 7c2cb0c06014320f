import { useEffect, useRef, useState } from 'react';
import { ApiError } from '@/api/api-error.ts';

/**
 * Of one action at a time: whether it is under way, and why the last one failed. Its signal is aborted by `stop`, and when the
 * screen is left.
 */
export function useAttempt() {
  const [state, setState] = useState<{ pending: boolean; error: unknown }>({ pending: false, error: null });
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const attempt = (work: (signal: AbortSignal) => Promise<unknown>): void => {
    const { signal } = (stopping.current = new AbortController());
    setState({ pending: true, error: null });
    work(signal).then(
      () => setState({ pending: false, error: null }),
      (error: unknown) => {
        const isOwnStop = signal.aborted && !(error instanceof ApiError);
        setState({ pending: false, error: isOwnStop ? null : error });
      },
    );
  };
  return { ...state, attempt, stop: () => stopping.current.abort() };
}
