/** `1 second`, `2 seconds`: a count with its noun, for sentences. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A wait for sentences, in seconds, minutes or hours. */
export function waitInWords(seconds: number): string {
  if (seconds < 120) return counted(seconds, 'second');
  return seconds < 7200
    ? `about ${Math.round(seconds / 60)} minutes`
    : `about ${Math.round(seconds / 3600)} hours`;
}

/** A header's text without the blanks around it (RFC 9110, section 5.6.3). A regular expression would need quadratic time. */
export function withoutBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === ' ' || text[at] === '\t';
  let [start, end] = [0, text.length];
  while (isBlank(start)) start += 1;
  while (isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}

/**
 * A text that somebody chose, for a sentence without markup. What turns the direction of writing is taken out, and letters
 * that are written from right to left are isolated, so that the words around it stay where they are (UAX #9).
 */
export function isolated(text: string): string {
  const plain = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
  return /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(plain)
    ? `\u2068${plain}\u2069`
    : plain;
}
