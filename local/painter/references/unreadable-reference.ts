/** Why a reference image can't be used, as the rest of a sentence that begins with its name; it repeats no link. */
export class UnreadableReference extends Error {}
