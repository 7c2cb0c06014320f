/** How texts are compared: without case, and without the differences of Unicode's compatible forms. */
function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** The words of a search, each once. */
export function searchWords(search: string): string[] {
  return [...new Set(folded(search).split(/\s+/u))].filter((word) => word !== '');
}

/** Whether every word is somewhere in the text, in any case and order, also inside longer words. */
export function hasAllWords(text: string, words: readonly string[]): boolean {
  const searched = folded(text);
  return words.every((word) => searched.includes(word));
}
