/** Named in every answer and in every file: it changes whenever the same request would paint another picture. */
export const MODEL_VERSION = 'painter-1';
