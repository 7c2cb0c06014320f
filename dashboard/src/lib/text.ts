/** The number of characters as the API counts them: Unicode code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** Whether the API takes the characters of a text. */
export function isReadable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
