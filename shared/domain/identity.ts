/** A creator system. Its model never leaves the service: callers see only what `IdentityAnswer` shows. */
export interface Identity {
  identityId: string;
  name: string;
  slug: string;
  description: string;
  /** Founding identities come with every core plan; specialist ones are granted one by one. */
  catalog: 'founding' | 'specialist';
  productPhotos: boolean;
  /** Null while the identity has no active model. */
  model: IdentityModel | null;
}

export interface IdentityModel {
  version: string;
  /** Key of its adapter weights in the bucket, null when the base model needs none. */
  adapterKey: string | null;
  /** Lower-case hex of that file, which the container checks; null when nobody told it. */
  adapterSha256: string | null;
  /** Passed to the model container as they are. */
  settings: Record<string, unknown>;
}
