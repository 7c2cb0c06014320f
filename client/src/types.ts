import type { components } from './openapi.ts';

type Schemas = components['schemas'];

/** The body of POST /generate; what is left out has the service's default. */
export type GenerationRequest = Schemas['GenerationRequest'];
/** The answer of POST /generate. */
export type Generation = Schemas['Generation'];
/** The answer of POST /generate?dryRun=true. */
export type DryRun = Schemas['DryRun'];
/** A stored request, whatever became of it. */
export type StoredGeneration = Schemas['StoredGeneration'];
export type StoredGenerationList = Schemas['StoredGenerationList'];
export type GenerationEvents = Schemas['GenerationEvents'];
export type Identity = Schemas['IdentityList']['identities'][number];
/** A form to send one file with. */
export type Upload = Schemas['Upload'];
export type Health = Schemas['Health'];
/** Every code that an error of the API may have. */
export type ErrorCode = Schemas['ErrorCode'];
export type ImageType = NonNullable<Schemas['UploadByKeyRequest']['contentType']>;

/** A generation that succeeded. */
export interface GenerationResult extends Omit<Generation, 'usage'> {
  creditsCharged: number;
  /** Null when the answer got lost and the stored request was fetched in its place. */
  usage: Generation['usage'] | null;
}
