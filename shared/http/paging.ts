import { isRequestId } from '../base/ids.ts';
import { ServiceError } from '../base/errors.ts';

const defaultLimit = 20;
const maxLimit = 100;

/** @throws INVALID_PARAMETERS for anything but a whole number from 1 to 100. */
export function readLimit(sent: string | undefined, byDefault = defaultLimit): number {
  if (sent === undefined) return byDefault;
  const limit = /^[0-9]{1,3}$/.test(sent) ? Number(sent) : 0;
  if (limit < 1 || limit > maxLimit) {
    throw new ServiceError('INVALID_PARAMETERS', `limit must be a whole number from 1 to ${maxLimit}.`);
  }
  return limit;
}

/** Opaque to callers. It names a place in the caller's own list, so a forged cursor reveals nothing. */
export function writeCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/**
 * @param isPlace whether a text can be a place in the list. Nothing else is ever looked up.
 * @throws INVALID_PARAMETERS for anything that is not a cursor.
 */
export function readCursor(sent: string | undefined, isPlace = isRequestId): string | null {
  if (sent === undefined) return null;
  const place = Buffer.from(sent, 'base64url').toString('latin1');
  if (!isPlace(place) || writeCursor(place) !== sent) {
    throw new ServiceError('INVALID_PARAMETERS', 'cursor must be the nextCursor of an earlier answer.');
  }
  return place;
}
