import { referenceName, type Reference } from './reference.ts';

/** `referenceImages[2].url: could not be fetched`, or with a space for the colon: one refusal of several. */
const refusal = /^referenceImages\[(\d+)\](?:\.(?:url|uploadId))?:? (.+)$/s;

/**
 * What the service said about each reference image, by its place in the request, in sentences.
 * @param message of INVALID_PARAMETERS: refusals with a semicolon or a full stop behind each.
 */
export function readRefusals(message: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const part of partsOf(message)) {
    const [, place, what] = refusal.exec(part) ?? [];
    if (place !== undefined && what !== undefined) found.set(Number(place), sentence(what));
  }
  return found;
}

/** The same message with each image under the name that people know it by. */
export function nameRefusals(message: string, references: readonly Reference[]): string {
  const named = partsOf(message).map((part) => {
    const [, place, what] = refusal.exec(part) ?? [];
    const reference = references[Number(place)];
    return reference === undefined ? part : `${referenceName(reference)}: ${what}`;
  });
  return `${named.join('. ')}.`;
}

/** Stops may stand within a refusal, so one ends only where another begins. */
function partsOf(message: string): string[] {
  return message.replace(/\.$/, '').split(/[.;] (?=referenceImages\[)/);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
