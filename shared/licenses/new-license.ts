import { newId } from '../base/ids.ts';
import type { License } from './license.ts';

/** An active license that begins now and grants no identity, but for what is given. */
export function newLicense(
  given: Pick<License, 'ownerId' | 'tier' | 'creditsLimit'> & Partial<License>,
  nowMs: number,
): License {
  return {
    licenseId: newId('license'),
    givenName: null,
    planName: null,
    foundingCatalog: false,
    identityIds: [],
    apiAccess: true,
    status: 'active',
    graceUntilMs: null,
    suspended: null,
    periodAnchorMs: nowMs,
    carried: null,
    activeUntilMs: null,
    extraUntilMs: null,
    maxInFlight: null,
    moderation: null,
    createdAtMs: nowMs,
    ...given,
  };
}
