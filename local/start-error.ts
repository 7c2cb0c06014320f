/** A reason not to start that its reader can mend: one sentence, no stack. */
export class StartError extends Error {}
