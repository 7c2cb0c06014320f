import { Field } from '@/components/field.tsx';
import { Select } from '@/components/ui/select.tsx';
import { usePlayground } from './use-playground.ts';
import { versionChoices } from './versions.ts';

/** Which version of the identity makes the image, where there is a choice. */
export function VersionPicker() {
  const { values, identity, versions = [], shownErrors, change } = usePlayground();
  const { identityVersion: chosen } = values;
  if (versions.length < 2 && shownErrors.identityVersion === undefined) return null;
  const choices = versionChoices(versions);
  const gone = { id: chosen, label: `Version ${chosen}`, disabled: true };
  return (
    <Field
      label="Version"
      hint={chosen === '' ? undefined : 'It stays this one when another becomes active.'}
      error={shownErrors.identityVersion}
    >
      <Select
        none={`The active one: version ${identity?.version ?? ''}`}
        value={chosen}
        choices={shownErrors.identityVersion === undefined ? choices : [gone, ...choices]}
        onChange={(identityVersion = '') => change({ identityVersion })}
      />
    </Field>
  );
}
