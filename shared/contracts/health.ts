import * as z from 'zod/mini';
import { described } from './answer-fields.ts';

/** The answer of GET /health, always with status 200. It says of each part whether it is up. */
export const healthAnswer = z.object({
  status: described(z.enum(['ok', 'degraded']), '`ok` when every part is up.'),
  api: described(z.literal('up'), 'The API itself: whoever reads this has reached it.'),
  inference: described(z.enum(['up', 'down']), 'The models. While they are down, generating answers 503.'),
});

export type HealthAnswer = z.infer<typeof healthAnswer>;
