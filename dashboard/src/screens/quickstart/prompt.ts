export const defaultPrompt = 'A lighthouse on a quiet coast at dawn';
export const maxPromptLength = 1000;

/** What the samples send: the reader's prompt, or ours while theirs would be refused. */
export function samplePrompt(entered: string): string {
  const usable = entered.trim() !== '' && promptProblem(entered) === null;
  return usable ? entered : defaultPrompt;
}

export function promptProblem(entered: string): string | null {
  const length = Array.from(entered).length;
  return length > maxPromptLength ? `Use at most ${maxPromptLength} characters; these are ${length}.` : null;
}
