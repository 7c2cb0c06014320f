/** The number of characters as the API counts them: Unicode code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** Whether the API takes the characters of a text. */
export function isReadable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A text in one line, cut at a word where it is longer than so many characters. */
export function shorten(text: string, maxCharacters: number): string {
  const line = [...text.trim().replace(/\s+/gu, ' ')];
  if (line.length <= maxCharacters) return line.join('');
  const start = line.slice(0, maxCharacters - 1).join('');
  const atWord = start.replace(/\s+\S*$/u, '');
  // A very long word is cut itself.
  return `${atWord.length > start.length / 2 ? atWord : start}…`;
}
