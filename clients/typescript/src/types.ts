import type { components } from './openapi.ts';

type Schemas = components['schemas'];

/** The body of POST /generate. Members that are left out have the service's defaults. */
export type GenerationRequest = Schemas['GenerationRequest'];
/** The answer of POST /generate. */
export type Generation = Schemas['Generation'];
/** The answer of POST /generate?dryRun=true. */
export type DryRun = Schemas['DryRun'];
/** A stored request with any status. */
export type StoredGeneration = Schemas['StoredGeneration'];
export type StoredGenerationList = Schemas['StoredGenerationList'];
/** The answer of DELETE /generate/{requestId}. */
export type DeletedGeneration = Schemas['DeletedGeneration'];
export type GenerationEvents = Schemas['GenerationEvents'];
export type Identity = Schemas['IdentityList']['identities'][number];
/** The answer of GET /identities/{identityId}. */
export type IdentityDetail = Schemas['IdentityDetail'];
/** A form that takes one file. */
export type Upload = Schemas['Upload'];
/** What a key may still do. */
export type KeyAllowance = Schemas['KeyAllowance'];
export type Health = Schemas['Health'];
/** Every code that an error of the API may have. */
export type ErrorCode = Schemas['ErrorCode'];
export type ImageType = Schemas['ContentType'];

/** A generation that succeeded. */
export interface GenerationResult extends Omit<Generation, 'usage'> {
  creditsCharged: number;
  /** Null when the answer was lost and the stored request was fetched instead. */
  usage: Generation['usage'] | null;
}
