import * as z from 'zod/mini';
import { count, described } from '../base/answer-fields.ts';

export const modelStates = ['ready', 'waking', 'asleep', 'unavailable'] as const;
export type ModelState = (typeof modelStates)[number];

/** The answer of GET /health, always with status 200. It says of each part whether it is up. */
export const healthAnswer = z.object({
  status: described(
    z.enum(['ok', 'degraded']),
    '`ok` when every part is up. A model that sleeps, or wakes as it should, is up.',
  ),
  api: described(z.literal('up'), 'The API itself: whoever reads this has reached it.'),
  inference: described(
    z.enum(['up', 'down']),
    'The models. `down` while they are neither awake nor to be woken: generating answers 503 then.',
  ),
  model: described(
    z.enum(modelStates),
    '`ready` paints at once. `asleep`: the next request to generate wakes it. `waking`: it starts. While it sleeps or ' +
      'wakes, generating answers 503, and a request with `Prefer: respond-async` waits for it. `unavailable`: no answer.',
  ),
  modelReadyInSeconds: described(
    z.nullable(count),
    'While the model is `waking`: about when it is ready, by what waking took lately. Otherwise null.',
  ),
});

export type HealthAnswer = z.infer<typeof healthAnswer>;
