import { SlidersHorizontal } from 'lucide-react';
import { Field } from '@/components/field.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Choices } from './choices.tsx';
import { sizeOf } from './form-values.ts';
import { minSidePx, presetsFor, sideStepPx, type Size } from './sizes.ts';
import type { Playground } from './use-playground.ts';

/** The presets of the tier, and a custom size. */
export function SizePicker({ playground }: { playground: Playground }) {
  const { values, license, change } = playground;
  const size = sizeOf(values);
  const presets = presetsFor(license.maxSidePx);
  const preset = presets.find(({ width, height }) => size?.width === width && size.height === height);
  return (
    <Choices
      legend="Size in pixels"
      name="size"
      columns="grid-cols-3"
      options={[...presets, null]}
      chosen={values.customSize ? null : preset}
      onChoose={(next) =>
        change(
          next === null
            ? { customSize: true }
            : { width: String(next.width), height: String(next.height), customSize: false },
        )
      }
      className="h-20 flex-col gap-1"
      note={values.customSize && <CustomSize playground={playground} />}
    >
      {(option) => (
        <>
          <span aria-hidden className="flex h-6 items-center">
            {option === null ? <SlidersHorizontal className="size-4" /> : <Shape {...option} />}
          </span>
          <span className="text-xs font-medium">{option === null ? 'Custom' : option.label}</span>
          <span className="-mt-1 text-[0.6875rem] leading-4 text-muted-foreground tabular-nums">
            {option === null ? `up to ${license.maxSidePx}` : `${option.width} × ${option.height}`}
          </span>
        </>
      )}
    </Choices>
  );
}

function Shape({ width, height }: Size) {
  const longPx = Math.max(width, height);
  const unit = (longPx <= 640 ? 14 : longPx <= 1344 ? 20 : 24) / longPx;
  return (
    <span
      className="block rounded-[2px] border-[1.5px] border-foreground"
      style={{ width: width * unit, height: height * unit }}
    />
  );
}

function CustomSize({ playground: { shownErrors, license, bind } }: { playground: Playground }) {
  return (
    <div className="mt-4 grid grid-cols-2 gap-x-2">
      {(['width', 'height'] as const).map((name) => (
        <Field key={name} label={name === 'width' ? 'Width' : 'Height'} error={shownErrors[name]}>
          {(control) => (
            <Input
              {...control}
              {...bind(name)}
              type="number"
              min={minSidePx}
              max={license.maxSidePx}
              step={sideStepPx}
              inputMode="numeric"
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
