/** An identity as its callers see it: an item of GET /identities. */
export interface IdentityAnswer {
  id: string;
  name: string;
  slug: string;
  description: string;
  /** Whether it takes reference images of products. */
  productPhotos: boolean;
  /** Whether it has an active model right now. */
  available: boolean;
}

export interface IdentityList {
  identities: IdentityAnswer[];
}
