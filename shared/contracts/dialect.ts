import type { CreateGenerationBody } from './generation.ts';

/** In which words a request to generate is sent and refused. What is checked is the same in all of them. */
export interface Dialect {
  /** The members of a body that it has other names for. */
  members: Readonly<Partial<Record<keyof CreateGenerationBody, string>>>;
  queryParameters: readonly string[];
  noIdentity: string;
  unknownIdentity: string;
  /** The route that lists what may be used. */
  identityList: string;
}

/** That of POST /generate. */
export const ownDialect: Dialect = {
  members: {},
  queryParameters: ['dryRun'],
  noIdentity: 'identityId is missing: send the ID of the identity to use.',
  unknownIdentity: 'No identity has this identityId.',
  identityList: 'GET /identities',
};
