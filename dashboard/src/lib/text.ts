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

/** What turns the direction of writing: embeddings, overrides and isolates (UAX #9, section 2). */
const bidiControls = /[\u202a-\u202e\u2066-\u2069]/g;

export function withoutBidiControls(text: string): string {
  return text.replace(bidiControls, '');
}

/** JSON that means the same, with such controls in its strings as escapes. */
export function escapeBidiControls(json: string): string {
  return json.replace(bidiControls, (control) => `\\u${control.charCodeAt(0).toString(16)}`);
}

/**
 * A text that somebody chose, for a sentence without markup. What turns the direction of writing is taken out, and letters
 * that are written from right to left are isolated, so that the words around it stay where they are (UAX #9).
 */
export function isolated(text: string): string {
  const plain = withoutBidiControls(text);
  return /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(plain)
    ? `\u2068${plain}\u2069`
    : plain;
}
