import { Field } from '@/components/field.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Slider } from '@/components/ui/slider.tsx';
import { decimalOf } from './form-values.ts';
import type { Playground } from './use-playground.ts';

interface NumberSliderProps {
  playground: Playground;
  name: 'steps' | 'guidance';
  label: string;
  hint: string;
  range: { min: number; max: number; step?: number };
}

/** A number to drag or to type. */
export function NumberSlider({ playground, name, label, hint, range }: NumberSliderProps) {
  const { values, shownErrors, change, touch, license } = playground;
  const { min, max, step = 1 } = range;
  const value = Math.min(max, Math.max(min, decimalOf(values[name]) ?? min));
  return (
    <Field label={label} hint={hint} error={shownErrors[name]}>
      {(control) => (
        <div className="grid grid-cols-[minmax(0,1fr)_5rem] items-center gap-4">
          <Slider
            aria-label={`${label}, slider`}
            value={[value]}
            min={min}
            max={max}
            step={step}
            disabled={!license.usable}
            onValueChange={([next]) => change({ [name]: String(next) })}
          />
          <Input
            {...control}
            type="number"
            name={name}
            min={min}
            max={max}
            step={step}
            inputMode={step === 1 ? 'numeric' : 'decimal'}
            value={values[name]}
            onChange={({ target }) => change({ [name]: target.value })}
            onBlur={() => touch(name)}
            className="tabular-nums"
          />
        </div>
      )}
    </Field>
  );
}
