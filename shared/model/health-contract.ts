import * as z from 'zod/mini';
import { count, described } from '../base/answer-fields.ts';

export const modelStates = ['ready', 'waking', 'asleep', 'unavailable'] as const;
export type ModelState = (typeof modelStates)[number];

/** The answer of GET /health, always with status 200. It says of each part whether it is up. */
export const healthAnswer = z.object({
  status: described(
    z.enum(['ok', 'degraded']),
    '`ok` when every part is up. A model that is scaled to zero, or starts as it should, is up.',
  ),
  api: described(z.literal('up'), 'The API itself: whoever reads this has reached it.'),
  inference: described(
    z.enum(['up', 'down']),
    'The models. `down` while they neither run nor can be started: generating answers 503 then.',
  ),
  model: described(
    z.enum(modelStates),
    '`ready` generates at once. `asleep`: it is scaled to zero, and the next request to generate starts it. `waking`: it starts. In both, ' +
      'generating answers 503, and a request with `Prefer: respond-async` waits for it. `unavailable`: no answer.',
  ),
  modelReadyInSeconds: described(
    z.nullable(count),
    'While the model is `waking`: about when it is ready, by what cold starts took lately. Otherwise null.',
  ),
});

export type HealthAnswer = z.infer<typeof healthAnswer>;
