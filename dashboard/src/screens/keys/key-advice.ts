/** What to do about a refusal, beside the API's own sentence. */
interface Refusal {
  /** 0 when no answer came. */
  status: number;
  code: string;
}

const createAdvice: Record<string, string> = {
  LICENSE_INACTIVE: 'Choose another license, or renew this one with whoever manages your subscription.',
  LICENSE_NOT_FOUND: 'It may have been moved to another account. Reload the page to see your licenses.',
  KEY_LIMIT_REACHED: 'Do that, or choose another license, then try again.',
  RATE_LIMITED: 'Until then, use the keys that you have.',
  INVALID_PARAMETERS:
    "Correct what it names and try again. If an expiry in the future is refused, check this computer's clock.",
};

export function createKeyAdvice({ status, code }: Refusal): string | null {
  const known = createAdvice[code];
  if (known !== undefined) return known;
  if (!isUncertain(status)) return null;
  return 'The key may have been made all the same. Close this and look in the list: if it is there, revoke it, because it can no longer be shown.';
}

export function changeKeyAdvice({ status, code }: Refusal): string | null {
  if (code === 'KEY_NOT_FOUND') return 'Reload the page to see your keys as they are now.';
  return isUncertain(status)
    ? 'The key may have been changed all the same. Try again; doing it twice does no harm.'
    : null;
}

export function revokeKeyAdvice({ status, code }: Refusal): string | null {
  if (code === 'KEY_NOT_FOUND') return 'Reload the page to see your keys as they are now.';
  return isUncertain(status)
    ? 'The key may still be accepted. Try again; doing it twice does no harm.'
    : null;
}

/** Whether the work may be done although no answer came. */
function isUncertain(status: number): boolean {
  return status < 400 || status >= 500;
}
