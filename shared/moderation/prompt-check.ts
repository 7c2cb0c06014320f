import type { PromptCheckSettings } from '../base/config.ts';
import { ServiceError, type KeepPrompt } from '../base/errors.ts';
import { loggableError, type Log } from '../base/log.ts';
import type { Meter } from '../base/metrics.ts';
import { categoriesInWords, knownCategories } from './categories.ts';

/** What is checked, in its caller's words alone. */
export interface AskedPrompt {
  prompt: string;
  /** '' where there is none. */
  negativePrompt: string;
  identityId: string;
  /** Opaque, and the same for all requests of a license. */
  tenant: string;
  requestId: string;
}

export interface Verdict {
  allowed: boolean;
  /** What it is refused for, in the words of whoever checked it. */
  categories: string[];
}

/** How a prompt is asked about. It throws when there is no verdict, with messages that hold nothing of the prompt. */
export type AskAboutPrompt = (asked: AskedPrompt, withinMs: number) => Promise<Verdict>;

export interface PromptCheckDeps {
  ask: AskAboutPrompt;
  onFailure: PromptCheckSettings['onFailure'];
  /** Keeps a refused prompt for the operator; null where none is kept. */
  keep: ((asked: AskedPrompt, categories: string[], ...of: Parameters<KeepPrompt>) => Promise<void>) | null;
  log: Log;
}

/** @throws CONTENT_REFUSED; SERVICE_UNAVAILABLE for a prompt that could not be checked, unless those are let through. */
export type PromptCheck = (asked: AskedPrompt, meter: Meter) => Promise<void>;

/** From the question to the whole verdict. */
const answerWithinMs = 2000;

export function promptCheck({ ask, onFailure, keep, log }: PromptCheckDeps): PromptCheck {
  return async (asked, meter) => {
    const verdict = await ask(asked, answerWithinMs).catch((cause: unknown) => {
      meter.count('promptChecks', 'failed');
      if (onFailure === 'refuse') throw notChecked(cause);
      const { requestId } = asked;
      log.error('prompt not checked', { requestId, causes: loggableError(cause) });
      return null;
    });
    if (verdict === null) return;
    meter.count('promptChecks', verdict.allowed ? 'allowed' : 'refused');
    if (verdict.allowed) return;
    const categories = knownCategories(verdict.categories);
    throw contentRefused(categories, keep ? (...of) => keep(asked, categories, ...of) : undefined);
  };
}

function notChecked(cause: unknown): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    "Prompts can't be checked at the moment. Try again shortly.",
    { cause },
  );
}

function contentRefused(categories: string[], keepPrompt: KeepPrompt | undefined): ServiceError {
  return new ServiceError(
    'CONTENT_REFUSED',
    `The prompt was refused for ${categoriesInWords(categories)}. Change what it asks for, then send it again. Nothing was charged.`,
    { categories, keepPrompt },
  );
}
