import type { ServerContext } from '@modelcontextprotocol/server';
import type { Observer } from '../generations/settle.ts';
import { counted } from '../base/words.ts';

/** Reports to a caller who asked for it how a generation goes on. */
export interface Progress {
  note(message: string): void;
  observer: Observer;
}

/**
 * Progress notifications (MCP 2026-07-28, "Progress"), of which each number must be higher than the last: every note counts one,
 * every step of the model one more.
 */
export function progressFor({ _meta, notify }: ServerContext['mcpReq']): Progress {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  let lastStep = 0;
  const report = (message: string, stepsLeft?: number) => {
    if (progressToken === undefined) return;
    const total = stepsLeft === undefined ? {} : { total: progress + stepsLeft };
    const params = { progressToken, progress, message, ...total };
    // A caller who has gone needs no report.
    notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const note = (message: string) => {
    progress += 1;
    report(message);
  };
  return {
    note,
    observer: {
      queued(position, etaSeconds) {
        const eta = etaSeconds === 0 ? '' : `, expected to begin in ${counted(etaSeconds, 'second')}`;
        note(`Waits for the model: position ${position}${eta}.`);
      },
      started: () => note('The model began.'),
      progress(step, steps) {
        if (step <= lastStep) return;
        progress += step - lastStep;
        lastStep = step;
        report(`Step ${step} of ${steps}.`, steps - step);
      },
    },
  };
}
