import type { Sample } from './sample.ts';

/** A creator system. Its model never leaves the service: callers see only what `IdentityAnswer` shows. */
export interface Identity {
  identityId: string;
  name: string;
  slug: string;
  description: string;
  /** Founding identities come with every core plan; specialist ones are granted one by one. */
  catalog: 'founding' | 'specialist';
  productPhotos: boolean;
  /** In the order in which they are shown. */
  samples: Sample[];
  /** Null while the identity has no active model. */
  model: IdentityModel | null;
}

export interface IdentityModel {
  version: string;
  /** Key of its adapter weights in the bucket, null when the base model needs none. */
  adapterKey: string | null;
  /** SHA-256 of that file in lower-case hex, which the container checks; null when it was not given. */
  adapterSha256: string | null;
  /** Passed to the model container as they are. */
  settings: Record<string, unknown>;
}
