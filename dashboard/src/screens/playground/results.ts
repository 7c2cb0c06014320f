import type { Generated, PlaygroundBody } from '../../api/generate.ts';
import { formatCount, formatDuration } from '../../lib/format.ts';
import type { Reference } from './references/reference.ts';

/** A finished generation of this visit. */
export interface Result extends Generated {
  body: PlaygroundBody;
  /** The reference images that it was sent with. */
  references: readonly Reference[];
  /** From the click until the images were there; milliseconds. */
  waitedMs: number;
}

export function timeTaken({ processingTimeMs, waitedMs }: Result): string {
  return formatDuration(processingTimeMs ?? waitedMs);
}

export function readyText(result: Result): string {
  return `${formatCount(result.outputs.length, 'image')} ${result.outputs.length === 1 ? 'is' : 'are'} ready, made in ${timeTaken(result)}.`;
}

/** The prompt in one line, short enough for a label. */
export function shortPrompt(prompt: string, limit = 80): string {
  const line = prompt.trim().replace(/\s+/g, ' ');
  const characters = Array.from(line);
  return characters.length <= limit
    ? line
    : `${characters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`;
}

/** Width and height of one image. */
export function imageSize({ width = 1024, height = 1024 }: PlaygroundBody): {
  width: number;
  height: number;
} {
  return { width, height };
}
