import type { GenerationAnswer } from '../../shared/generations/answer-contract.ts';
import type { Stores } from '../common/stores.ts';
import type { SmokePlace } from './place.ts';
import type { IssuedKey, SmokeWorld } from './world.ts';

/** What the checks share. */
export interface SmokeContext {
  place: SmokePlace;
  stores: Stores;
  world: SmokeWorld;
  issued: IssuedKey;
  /** The generated image, once there is one. */
  image: GenerationAnswer | null;
}

export interface Step {
  name: string;
  /** Why this check is skipped; null when it runs. */
  skip?(context: SmokeContext): string | null;
  /** @throws Mismatch, or the SDK's errors. */
  run(context: SmokeContext): Promise<void>;
}

export interface StepResult {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  /** Why it failed or was skipped, null for a check that passed. */
  reason: string | null;
}

/** Skips checks of the image when there is none. */
export function withoutImage({ place, image }: SmokeContext): string | null {
  if (!place.hasModel) return 'the stack has no model';
  return image === null ? 'no image was generated' : null;
}
