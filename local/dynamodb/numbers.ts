import { db } from './dynalite.ts';
import type { AttributeValue, Item, ServiceFault } from './dynalite.ts';

/** A number has at most 38 significant digits ("Data types" in DynamoDB's developer guide). */
const maxDigits = 38;
/** Exponents of the first digit: 9.99…E+125 is the largest number, 1E-130 the smallest above zero. */
const maxExponent = 125;
const minExponent = -130;

/**
 * What is wrong with a number in an updated item; null if nothing is. dynalite checks the numbers that a client sends,
 * but not sums and differences. AWS calls a sum with too many digits an overflow, too.
 */
export function wrongNumber(item: Item): ServiceFault | null {
  for (const number of numbersIn(Object.values(item))) {
    const { digits, exponent } = measure(number);
    if (digits === 0) continue;
    if (exponent < minExponent) return invalid('underflow', 'smaller');
    if (digits > maxDigits || exponent > maxExponent) return invalid('overflow', 'larger');
  }
  return null;
}

/** Only those with more than 38 characters: shorter ones can't be wrong. */
function* numbersIn(values: AttributeValue[]): Iterable<string> {
  for (const { N, L, M } of values) {
    if (N !== undefined && N.length > maxDigits) yield N;
    if (L) yield* numbersIn(L);
    if (M) yield* numbersIn(Object.values(M));
  }
}

/** @param number without an exponent, as dynalite writes them. */
function measure(number: string): { digits: number; exponent: number } {
  const [whole = '', fraction = ''] = number.replace('-', '').split('.');
  const all = whole + fraction;
  const significant = all.replace(/^0+/, '');
  const exponent = whole.length - 1 - (all.length - significant.length);
  return { digits: significant.replace(/0+$/, '').length, exponent };
}

function invalid(what: string, than: string): ServiceFault {
  return db.validationError(
    `Number ${what}. Attempting to store a number with magnitude ${than} than supported range`,
  );
}
