import * as z from 'zod/mini';
import { count, described, link, timestamp } from '../base/answer-fields.ts';

/** A picture that the identity made. */
const identitySample = z.object({
  url: described(link, 'The picture, a WebP of at most 1024 pixels a side.'),
  thumbnailUrl: described(link, 'The same in small, a WebP of at most 512 pixels a side.'),
  width: described(count, 'Of the picture, in pixels.'),
  height: described(count, 'Of the picture, in pixels.'),
  prompt: described(z.nullable(z.string()), 'The prompt that made it, where that is known.'),
});

const size = z.object({ width: described(count, 'Pixels.'), height: described(count, 'Pixels.') });

/** An identity as its callers see it, but for links. */
const identityFacts = z.object({
  id: described(z.string(), 'Send it as `identityId`.'),
  name: z.string(),
  slug: described(
    z.string(),
    'The name as it stands in addresses of pages. `identityId` takes it, too, and goes on taking it after a rename.',
  ),
  description: z.string(),
  productPhotos: described(z.boolean(), 'Whether it takes reference images of products.'),
  available: described(z.boolean(), 'Whether it has an active model right now.'),
  version: described(
    z.nullable(count),
    'The active version, which makes what names none as `identityVersion`; null while there is none.',
  ),
  triggerWords: described(
    z.array(z.string()),
    'Words that call up its manner, where the operator shows them.',
  ),
  defaultSize: described(size, 'Of requests that name neither side.'),
  license: described(
    z.nullable(z.string()),
    'The licence of its adapter, by name or address, where it is known.',
  ),
  source: described(z.nullable(z.string()), 'Where it is from, where that is known.'),
});

/** An item of GET /identities. */
export const identityAnswer = z.object({
  ...identityFacts.shape,
  samples: described(
    z.array(identitySample),
    'Pictures that show what it makes, at most 9, and fewer where more than 111 identities are listed. Their links open for 45 to 60 minutes and are the same within each quarter of an hour.',
  ),
});

const identityVersion = z.object({
  version: described(count, 'Send it as `identityVersion`.'),
  active: described(z.boolean(), 'Whether it makes what names no version.'),
  createdAt: described(z.nullable(timestamp), 'Null for what was there before versions were.'),
  note: described(z.nullable(z.string()), 'What is new in it.'),
  retiresAt: described(
    z.nullable(timestamp),
    'From then on requests that pin it are refused; null while none is set.',
  ),
  samples: described(z.array(identitySample), 'Pictures that this version made.'),
});

/** The answer of GET /identities/{identityId}. */
export const identityDetail = z.object({
  ...identityAnswer.shape,
  versions: described(z.array(identityVersion), 'Those that may be used, newest first.'),
});

export const identityList = z.object({ identities: z.array(identityAnswer) });

/** The same for agents, whose models would read a thousand characters for each link. */
export const agentIdentityList = z.object({ identities: z.array(identityFacts) });

export type IdentitySample = z.infer<typeof identitySample>;
export type IdentityDetail = z.infer<typeof identityDetail>;
export type IdentityAnswer = z.infer<typeof identityAnswer>;
export type IdentityList = z.infer<typeof identityList>;
export type AgentIdentityList = z.infer<typeof agentIdentityList>;
