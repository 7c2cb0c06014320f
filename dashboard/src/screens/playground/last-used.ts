import type { PlaygroundBody } from '../../api/generate.ts';
import { outputFormats } from '../../lib/outputs.ts';
import { keepDraft, recallDraft, type TabStorage } from '../../lib/drafts.ts';
import { defaultValues, type FormValues } from './form-values.ts';

/** What suits an identity and not one image: no prompt and no seed. */
export type Settings = Pick<
  FormValues,
  'width' | 'height' | 'numOutputs' | 'outputFormat' | 'steps' | 'guidance'
>;

const key = 'last-used';
const names = ['width', 'height', 'numOutputs', 'outputFormat', 'steps', 'guidance'] as const;

/** Remembers which settings an identity was used with last, in this tab. */
export function rememberSettings(body: PlaygroundBody, storage?: () => TabStorage): void {
  const { width = 1024, height = 1024, numOutputs = 1, outputFormat = 'png' } = body;
  const settings: Settings = {
    width: String(width),
    height: String(height),
    numOutputs: numOutputs ?? defaultValues.numOutputs,
    outputFormat: outputFormat ?? defaultValues.outputFormat,
    steps: String(body.numInferenceSteps ?? defaultValues.steps),
    guidance: String(body.guidanceScale ?? defaultValues.guidance),
  };
  keepDraft(key, { ...recallDraft(key, storage), [body.identityId]: settings }, storage);
}

/** The settings that an identity was used with last. Null where they are unknown, or are those of the form already. */
export function otherSettings(values: FormValues, storage?: () => TabStorage): Settings | null {
  const all = recallDraft(key, storage);
  const settings = Object.hasOwn(all, values.identityId) ? all[values.identityId] : null;
  if (!isSettings(settings)) return null;
  const chosen = Object.fromEntries(names.map((name) => [name, settings[name]])) as unknown as Settings;
  return names.some((name) => chosen[name] !== values[name]) ? chosen : null;
}

function isSettings(kept: unknown): kept is Settings {
  if (typeof kept !== 'object' || kept === null) return false;
  const settings = kept as Settings;
  return (
    names.every((name) => typeof settings[name] === typeof defaultValues[name]) &&
    outputFormats.includes(settings.outputFormat)
  );
}
