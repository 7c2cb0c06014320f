import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm may pass on a signal that the terminal already sent to all processes: two signals within this time are one Ctrl-C. */
const sameSignalMs = 500;

export interface Interruption {
  /** 128 plus the signal's number; null before a signal came. */
  exitCode(): number | null;
  stop(): void;
}

/** The first signal is remembered, so that the run can clean up; the second one ends the process. */
export function noteSignals(onFirst: () => void, onSecond: () => void): Interruption {
  let exitCode: number | null = null;
  let firstMs = 0;
  const note = (signal: NodeJS.Signals) => {
    if (exitCode === null) {
      exitCode = 128 + constants.signals[signal];
      firstMs = Date.now();
      return onFirst();
    }
    if (Date.now() - firstMs < sameSignalMs) return;
    onSecond();
    process.exit(exitCode);
  };
  for (const signal of signals) process.on(signal, note);
  return {
    exitCode: () => exitCode,
    stop() {
      for (const signal of signals) process.off(signal, note);
    },
  };
}
