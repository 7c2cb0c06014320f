/** `1 second`, `2 seconds`: a count with its noun, for sentences. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
