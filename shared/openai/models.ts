import type { Identity } from '../identities/identity.ts';

/** An identity as OpenAI's `GET /models` shows models. When it was made is not stored. */
export function modelOf({ identityId, name, slug }: Identity) {
  return {
    id: identityId,
    object: 'model',
    created: 0,
    owned_by: 'image-generation-service',
    // Ours, so that people recognize it.
    name,
    slug,
  };
}
