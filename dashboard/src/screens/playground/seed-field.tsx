import { Dices, Lock, LockOpen } from 'lucide-react';
import { Field } from '@/components/field.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Input } from '@/components/ui/input.tsx';
import { maxSeed } from './form-values.ts';
import type { Playground } from './use-playground.ts';

interface SeedFieldProps {
  playground: Playground;
  /** The seed of the result that is shown, null before there is one. */
  usedSeed: number | null;
}

/** Empty for a new seed each time; the dice draw one, the lock keeps the last one or lets it go. */
export function SeedField({ playground, usedSeed }: SeedFieldProps) {
  const { values, shownErrors, change, touch } = playground;
  const locked = values.seed.trim() !== '';
  const draw = (): void => {
    const [seed] = crypto.getRandomValues(new Uint32Array(1));
    change({ seed: String(seed) });
  };
  const toggle = (): void => change({ seed: locked ? '' : String(usedSeed) });
  const LockIcon = locked ? Lock : LockOpen;
  return (
    <Field label="Seed" hint={seedHint(locked, usedSeed)} error={shownErrors.seed}>
      {(control) => (
        <div className="grid grid-cols-[minmax(0,1fr)_auto_auto] gap-2">
          <Input
            {...control}
            name="seed"
            inputMode="numeric"
            autoComplete="off"
            placeholder="Random"
            value={values.seed}
            onChange={({ target }) => change({ seed: target.value })}
            onBlur={() => touch('seed')}
            className="tabular-nums"
          />
          <Button variant="outline" size="icon" aria-label="Draw a seed" title="Draw a seed" onClick={draw}>
            <Dices aria-hidden />
          </Button>
          <Button
            variant="outline"
            size="icon"
            aria-label="Keep the seed"
            aria-pressed={locked}
            title={locked ? 'Use a new seed each time' : 'Keep the last seed'}
            disabled={!locked && usedSeed === null}
            onClick={toggle}
          >
            <LockIcon aria-hidden />
          </Button>
        </div>
      )}
    </Field>
  );
}

function seedHint(locked: boolean, usedSeed: number | null): string {
  if (locked) return 'The same seed and settings make the same image.';
  if (usedSeed !== null) return `A new one each time. Last used: ${usedSeed}.`;
  return `A new one each time, or a whole number up to ${maxSeed}.`;
}
