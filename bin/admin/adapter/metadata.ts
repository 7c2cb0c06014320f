import { isLine } from '../../../shared/base/fields.ts';
import { identityLimits as limits } from '../../../shared/identities/identity.ts';
import { isObject } from './json.ts';

/** What a file says of itself. Members that it does not say, or not in a form that could be used, are left out. */
export interface FileFacts {
  name?: string;
  description?: string;
  triggerWords?: string[];
  rights?: string;
  source?: string;
  /** The model that it was trained on, in its trainer's words. */
  trainedOn?: string;
}

/**
 * Reads the metadata of kohya's scripts, which ai-toolkit writes too (`ss_…`), and those of
 * https://github.com/Stability-AI/ModelSpec (`modelspec.…`), which are a person's own words and so come first.
 */
export function factsOf(metadata: Readonly<Record<string, string>>): FileFacts {
  const said = (max: number, ...names: string[]) =>
    names.map((name) => oneLine(metadata[name])).find((text) => isLine(text, max));
  const words = triggerWords(metadata).filter((word) => isLine(word, limits.triggerWord));
  const facts = {
    name: said(limits.name, 'modelspec.title', 'ss_output_name'),
    description: said(limits.description, 'modelspec.description'),
    triggerWords: words.length > 0 ? words.slice(0, limits.triggerWords) : undefined,
    rights: said(limits.rights, 'modelspec.license'),
    source: said(limits.source, 'modelspec.author'),
    trainedOn: said(200, 'ss_base_model_version', 'modelspec.architecture'),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

function oneLine(text = ''): string {
  return text.replace(/\s+/g, ' ').trim();
}

function triggerWords(metadata: Readonly<Record<string, string>>): string[] {
  const phrase = metadata['modelspec.trigger_phrase'];
  if (phrase) return phrase.split(',').map(oneLine);
  const folders = json(metadata['ss_dataset_dirs']);
  const words = Object.entries(json(metadata['ss_tag_frequency'])).flatMap(([folder, tags]) =>
    isObject(tags) ? inEveryImage(tags, folders[folder]) : [],
  );
  return [...new Set(words)];
}

/** So many words at most can be meant as trigger words: more are captions. */
const mostCommon = 3;

/** The tags of all images of a folder; where their number is not known, the most frequent ones. */
function inEveryImage(tags: Record<string, unknown>, folder: unknown): string[] {
  const images = isObject(folder) ? Number(folder['img_count']) : NaN;
  const counts = Object.entries(tags).map(([tag, count]) => [oneLine(tag), Number(count)] as const);
  const most = counts.reduce((least, [, count]) => Math.max(least, count), 0);
  const common = counts.filter(([, count]) => count === most).map(([tag]) => tag);
  return most < images || common.length > mostCommon ? [] : common;
}

function json(text = '{}'): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
