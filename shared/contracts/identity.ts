import * as z from 'zod/mini';
import { described } from './answer-fields.ts';

/** An identity as its callers see it: an item of GET /identities. */
export const identityAnswer = z.object({
  id: described(z.string(), 'Send it as `identityId`.'),
  name: z.string(),
  slug: described(z.string(), 'The name as it stands in addresses of pages.'),
  description: z.string(),
  productPhotos: described(z.boolean(), 'Whether it takes reference images of products.'),
  available: described(z.boolean(), 'Whether it has an active model right now.'),
});

export const identityList = z.object({ identities: z.array(identityAnswer) });

export type IdentityAnswer = z.infer<typeof identityAnswer>;
export type IdentityList = z.infer<typeof identityList>;
