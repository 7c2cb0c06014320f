/** Why a reference image can't be used, as the end of a sentence that begins with its name. It repeats no link. */
export class UnreadableReference extends Error {}
