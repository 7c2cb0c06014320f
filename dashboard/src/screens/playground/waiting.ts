import type { ModelHealth } from '../../api/queries.ts';
import type { GenerationStatus } from '../../api/types.ts';

/** Where a run is: on its way to the service, or what its stored request says. */
export type Stage = 'uploading' | 'sending' | GenerationStatus;

/** What is shown while a run goes on. */
export function stageText(stage: Stage, health: ModelHealth = {}): string {
  if (stage === 'uploading') return 'Uploading your images';
  if (stage === 'sending') return 'Sending';
  if (stage === 'PROCESSING') return 'The image is being made';
  const { model, modelReadyInSeconds: seconds = null } = health;
  if (model === 'waking' || model === 'asleep') {
    return `The model is starting. ${seconds === null ? 'This may take a few minutes' : aboutText(seconds)}.`;
  }
  if (model === 'unavailable') return 'The model can’t be reached now. Waiting for it';
  return 'Waiting for its turn';
}

/** What can be taken back, and what leaving the page does. */
export function stopText(stage: Stage): string {
  if (stage === 'uploading') return 'Nothing is ordered yet: Cancel takes it back, and nothing is charged.';
  if (stage === 'sending') return 'From here on it can’t be stopped, also not by closing this page.';
  return 'It can’t be stopped: it is finished and charged even if you close this page. You find it in your history.';
}

/** `About 4 minutes`, `About 40 seconds`: rounded, because it is an estimate. */
function aboutText(seconds: number): string {
  if (seconds <= 5) return 'A few seconds more';
  if (seconds < 55) return `About ${Math.ceil(seconds / 10) * 10} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes === 1 ? 'About 1 minute' : `About ${minutes} minutes`;
}
