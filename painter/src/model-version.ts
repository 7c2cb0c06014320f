/** Named in every answer and in every file: it must change when the same request would paint another picture. */
export const MODEL_VERSION = 'painter-1';
