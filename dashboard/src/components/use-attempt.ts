import { useState } from 'react';

/** Of one action at a time: whether it is under way, and why the last one failed. */
export function useAttempt() {
  const [state, setState] = useState<{ pending: boolean; error: unknown }>({ pending: false, error: null });
  const attempt = (work: () => Promise<unknown>): void => {
    setState({ pending: true, error: null });
    work().then(
      () => setState({ pending: false, error: null }),
      (error: unknown) => setState({ pending: false, error }),
    );
  };
  return { ...state, attempt };
}
