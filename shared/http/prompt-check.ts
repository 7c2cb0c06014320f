import type { Clock } from '../base/clock.ts';
import { secretReader } from '../base/secret-reader.ts';
import { refusedPromptKeeper } from '../moderation/refused-prompt-store.ts';
import { bedrockCheck } from '../moderation/bedrock-check.ts';
import { httpCheck } from '../moderation/http-check.ts';
import { promptCheck, type PromptCheck } from '../moderation/prompt-check.ts';
import type { Runtime } from './runtime.ts';

/** Another secret counts after so long, without a deployment. */
const secretLastsMs = 5 * 60_000;

/** What the deployment checks prompts with; null where it checks none. */
export function promptCheckOf({ env, table, clock, log }: Runtime): PromptCheck | null {
  const { promptCheck: settings, secretsManagerUrl, bedrockUrl } = env;
  if (settings === null) return null;
  const { config } = table().client;
  const ask =
    settings.kind === 'bedrock'
      ? bedrockCheck({ ...settings, config, bedrockUrl })
      : httpCheck({
          ...settings,
          readSecret: kept(() => secretReader(config, secretsManagerUrl)(settings.secretArn), clock),
          clock,
        });
  const { onFailure, keepRefusedDays: days } = settings;
  const keep = days === undefined ? null : refusedPromptKeeper(table(), days);
  return promptCheck({ ask, onFailure, keep, log });
}

/** Reads a secret again only after a while. What could not be read is read again at once. */
function kept(read: () => Promise<string>, clock: Pick<Clock, 'now'>): () => Promise<string> {
  let secret = '';
  let untilMs = 0;
  return async () => {
    if (clock.now() >= untilMs) {
      secret = await read();
      untilMs = clock.now() + secretLastsMs;
    }
    return secret;
  };
}
