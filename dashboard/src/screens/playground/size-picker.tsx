import { SlidersHorizontal } from 'lucide-react';
import { Field } from '@/components/field.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Choice } from './choice.tsx';
import { sizeOf } from './form-values.ts';
import { minSidePx, presetsFor, sideStepPx, type Size } from './sizes.ts';
import type { Playground } from './use-playground.ts';

/** Presets within the tier as shapes, and a size of one's own. */
export function SizePicker({ playground }: { playground: Playground }) {
  const { values, license, change } = playground;
  const size = sizeOf(values);
  return (
    <fieldset className="grid min-w-0 grid-cols-1 gap-2">
      <legend className="mb-2 text-sm font-medium">Size in pixels</legend>
      <div className="grid grid-cols-3 gap-2">
        {presetsFor(license.maxSidePx).map(({ label, width, height }) => (
          <Choice
            key={label}
            name="size"
            checked={!values.customSize && size?.width === width && size.height === height}
            onChoose={() => change({ width: String(width), height: String(height), customSize: false })}
            className="h-20 flex-col gap-1"
          >
            <Shape width={width} height={height} />
            <span className="text-xs font-medium">{label}</span>
            <span className="-mt-1 text-[0.6875rem] leading-4 text-muted-foreground tabular-nums">
              {width} × {height}
            </span>
          </Choice>
        ))}
        <Choice
          name="size"
          checked={values.customSize}
          onChoose={() => change({ customSize: true })}
          className="h-20 flex-col gap-1"
        >
          <span className="flex h-6 items-center">
            <SlidersHorizontal aria-hidden className="size-4" />
          </span>
          <span className="text-xs font-medium">Custom</span>
          <span className="-mt-1 text-[0.6875rem] leading-4 text-muted-foreground tabular-nums">
            up to {license.maxSidePx}
          </span>
        </Choice>
      </div>
      {values.customSize && <CustomSize playground={playground} />}
    </fieldset>
  );
}

function Shape({ width, height }: Size) {
  const longPx = Math.max(width, height);
  const unit = (longPx <= 640 ? 14 : longPx <= 1344 ? 20 : 24) / longPx;
  return (
    <span aria-hidden className="flex h-6 items-center">
      <span
        className="block rounded-[2px] border-[1.5px] border-foreground"
        style={{ width: width * unit, height: height * unit }}
      />
    </span>
  );
}

function CustomSize({ playground }: { playground: Playground }) {
  const { values, shownErrors, license, change, touch } = playground;
  return (
    <div className="mt-2 grid grid-cols-2 gap-x-2">
      {(['width', 'height'] as const).map((name) => (
        <Field key={name} label={name === 'width' ? 'Width' : 'Height'} error={shownErrors[name]}>
          {(control) => (
            <Input
              {...control}
              type="number"
              name={name}
              min={minSidePx}
              max={license.maxSidePx}
              step={sideStepPx}
              inputMode="numeric"
              value={values[name]}
              onChange={({ target }) => change({ [name]: target.value })}
              onBlur={() => touch(name)}
              className="tabular-nums"
            />
          )}
        </Field>
      ))}
      <p className="col-span-2 mt-1 text-xs leading-5 text-muted-foreground">
        Multiples of {sideStepPx} from {minSidePx} to {license.maxSidePx}.
      </p>
    </div>
  );
}
