/**
 * How the content of one license is checked other than everybody's: not at all, or with these thresholds for pictures, by category.
 * Who is not asked about a prompt can't refuse it, so thresholds leave the prompts' check as it is.
 */
export type ModerationRule = 'exempt' | Readonly<Record<string, number>>;
