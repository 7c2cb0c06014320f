import type { StoredGeneration } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';

type Deletable = Pick<StoredGeneration, 'outputs'>;

/** The question before requests are deleted. */
export function deletionQuestion(requests: readonly Deletable[]): { title: string; text: string } {
  const images = requests.reduce((sum, { outputs }) => sum + outputs.length, 0);
  const isOne = requests.length === 1;
  const prompts = isOne ? 'Its prompt' : 'Their prompts';
  const what =
    images === 0
      ? `${prompts} ${isOne ? 'is' : 'are'} deleted for good.`
      : `${prompts} and ${formatCount(images, 'image')} are deleted for good, and links to ${images === 1 ? 'the image' : 'the images'} stop working, also those that you handed out.`;
  return {
    title: isOne ? 'Delete this request?' : `Delete ${formatCount(requests.length, 'request')}?`,
    text: `${what} Credits stay spent, and the totals of your usage stay as they are. This can’t be undone.`,
  };
}

/** What is told once requests are deleted. */
export function deletedSentence(count: number): string {
  return count === 1 ? 'The request was deleted.' : `${formatCount(count, 'request')} were deleted.`;
}
