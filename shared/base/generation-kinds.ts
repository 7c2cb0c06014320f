export const generationStatuses = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'] as const;
export type GenerationStatus = (typeof generationStatuses)[number];

/** What kind of request a generation was, for statistics and filters. */
export const generationTypes = ['text_to_image', 'reference', 'exact_product'] as const;
export type GenerationType = (typeof generationTypes)[number];
