/**
 * How texts are compared: by Unicode's compatible forms (NFKC) and full case folding, and every i with or without a dot is
 * the same. JavaScript folds no case: the two changes of it come to the same, as ẞ, ß and SS show.
 */
function folded(text: string): string {
  const lower = text.normalize('NFKD').toLowerCase().toUpperCase().toLowerCase();
  // The sigma that ends a word is an own letter, and İ leaves its dot.
  return lower
    .replaceAll('ς', 'σ')
    .replace(/i\p{M}+/gu, (letter) => letter.replaceAll('\u0307', ''))
    .normalize('NFKC');
}

/** The words of a search, each once. The dashboard searches by these two, too. */
export function searchWords(search: string): string[] {
  return [...new Set(folded(search).split(/\s+/u))].filter((word) => word !== '');
}

/** Whether every word is somewhere in the text, in any case and order, also inside longer words. */
export function hasAllWords(text: string, words: readonly string[]): boolean {
  const searched = folded(text);
  return words.every((word) => searched.includes(word));
}
