import { Dices, Lock, LockOpen, SlidersHorizontal, ChevronDown } from 'lucide-react';
import { Slider } from 'radix-ui';
import { type ComponentProps, use } from 'react';
import { Field } from '@/components/field.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Input, Textarea, ControlContext } from '@/components/ui/input.tsx';
import { cn } from '@/lib/cn.ts';
import { formatNumber } from '@/lib/format.ts';
import { countCharacters } from '@/lib/text.ts';
import type { IdentityAnswer } from '@/lib/types.ts';
import { Badge } from '@/components/ui/card.tsx';
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuTrigger,
} from '@/components/ui/dropdown-menu.tsx';
import { IdentityPicture } from '@/components/pictures.tsx';
import { chooseIdentity } from './fill-form.ts';
import { decimalOf, maxSeed, sizeOf } from './form-values.ts';
import { usePlayground } from './use-playground.ts';
import { Choices } from './choices.tsx';
import { fitSize, isSame, minSidePx, presetsFor, sideStepPx, type Size } from './sizes.ts';

interface PromptFieldProps extends ComponentProps<typeof Textarea> {
  name: 'prompt' | 'negativePrompt';
  label: string;
  hint?: string;
  limit: number;
}

export function PromptField({ name, label, hint, limit, ...props }: PromptFieldProps) {
  const { values, shownErrors, bind } = usePlayground();
  const count = countCharacters(values[name]);
  return (
    <Field
      label={label}
      hint={hint}
      error={shownErrors[name]}
      aside={
        <span className={cn(count > limit && 'font-medium text-destructive')}>
          {formatNumber(count)} / {formatNumber(limit)}
        </span>
      }
    >
      <Textarea {...bind(name)} {...props} />
    </Field>
  );
}

interface NumberSliderProps {
  name: 'steps' | 'guidance';
  label: string;
  hint: string;
  range: { min: number; max: number; step?: number };
}

export function NumberSlider({ name, label, hint, range }: NumberSliderProps) {
  const { values, shownErrors, change, bind, license } = usePlayground();
  const { min, max, step = 1 } = range;
  const value = Math.min(max, Math.max(min, decimalOf(values[name]) ?? min));
  return (
    <Field label={label} hint={hint} error={shownErrors[name]}>
      <div className="grid grid-cols-[minmax(0,1fr)_5rem] items-center gap-4">
        <Slider.Root
          {...{ min, max, step }}
          value={[value]}
          disabled={!license.usable}
          onValueChange={([next]) => change({ [name]: String(next) })}
          className="relative flex h-6 w-full touch-none items-center select-none data-disabled:opacity-50"
        >
          <Slider.Track className="relative h-1 grow overflow-hidden rounded-full bg-input/50">
            <Slider.Range className="absolute h-full bg-primary" />
          </Slider.Track>
          <Slider.Thumb
            aria-label={`${label}, slider`}
            className="block size-5 rounded-full border-2 border-primary bg-card transition-colors hover:bg-accent"
          />
        </Slider.Root>
        <Input
          {...bind(name)}
          {...{ min, max, step }}
          type="number"
          inputMode={step === 1 ? 'numeric' : 'decimal'}
          className="tabular-nums"
        />
      </div>
    </Field>
  );
}

/** The dice draw a seed. The lock keeps that of the result that is shown, or removes it. */
export function SeedField({ usedSeed }: { usedSeed: number | null }) {
  const { values, shownErrors, change, bind } = usePlayground();
  const locked = values.seed.trim() !== '';
  const draw = (): void => {
    const [seed] = crypto.getRandomValues(new Uint32Array(1));
    change({ seed: String(seed) });
  };
  const toggle = (): void => change({ seed: locked ? '' : String(usedSeed) });
  const LockIcon = locked ? Lock : LockOpen;
  return (
    <Field label="Seed" hint={seedHint(locked, usedSeed)} error={shownErrors.seed}>
      <div className="grid grid-cols-[minmax(0,1fr)_auto_auto] gap-2">
        <Input
          {...bind('seed')}
          inputMode="numeric"
          autoComplete="off"
          placeholder="Random"
          className="tabular-nums"
        />
        <Button variant="outline" size="icon" label="Draw a seed" onClick={draw} icon={Dices} />
        <Button
          variant="outline"
          size="icon"
          label="Keep the seed"
          aria-pressed={locked}
          title={locked ? 'Use a new seed each time' : 'Keep the last seed'}
          disabled={!locked && usedSeed === null}
          onClick={toggle}
          icon={LockIcon}
        />
      </div>
    </Field>
  );
}

function seedHint(locked: boolean, usedSeed: number | null): string {
  if (locked) return 'The same seed and settings make the same image.';
  if (usedSeed !== null) return `A new one each time. Last used: ${usedSeed}.`;
  return `A new one each time, or a whole number up to ${maxSeed}.`;
}

export function SizePicker() {
  const { values, license, identity, change } = usePlayground();
  const size = sizeOf(values);
  const own = identity && fitSize(identity.defaultSize, license.maxSidePx);
  const presets = presetsFor(license.maxSidePx, own);
  const preset = presets.find((one) => size !== null && isSame(one, size));
  const isCustom = values.customSize || preset === undefined;
  return (
    <Choices
      legend="Size in pixels"
      name="size"
      columns="grid-cols-3"
      options={[...presets, null]}
      chosen={isCustom ? null : preset}
      onChoose={(next) =>
        change(
          next === null
            ? { customSize: true }
            : { width: String(next.width), height: String(next.height), customSize: false, isOwnSize: true },
        )
      }
      className="h-20 flex-col gap-1"
      note={isCustom && <CustomSize />}
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

function CustomSize() {
  const { shownErrors, license, bind } = usePlayground();
  return (
    <div className="mt-4 grid grid-cols-2 gap-x-2">
      {(['width', 'height'] as const).map((name) => (
        <Field key={name} label={name === 'width' ? 'Width' : 'Height'} error={shownErrors[name]}>
          <Input
            {...bind(name)}
            type="number"
            min={minSidePx}
            max={license.maxSidePx}
            step={sideStepPx}
            inputMode="numeric"
            className="tabular-nums"
          />
        </Field>
      ))}
      <p className="col-span-2 mt-1 text-xs leading-5 text-muted-foreground">
        Multiples of {sideStepPx} from {minSidePx} to {license.maxSidePx}.
      </p>
    </div>
  );
}

/** The identities with their descriptions. Those without a model are shown but can't be chosen. */
export function IdentityPicker() {
  const { shownErrors } = usePlayground();
  return (
    <Field label="Identity" error={shownErrors.identityId}>
      <IdentityMenu />
    </Field>
  );
}

function IdentityMenu() {
  const control = use(ControlContext);
  const { values, license, identities, identity: chosen, change } = usePlayground();
  const choose = (identityId: string): void => {
    const identity = identities.find(({ id }) => id === identityId);
    if (identity?.available) change(chooseIdentity(values, identity, license));
  };
  return (
    <DropdownMenu modal={false}>
      <DropdownMenuTrigger asChild>
        <Button
          {...control}
          variant="outline"
          aria-labelledby={`${control.id}-label ${control.id}`}
          className="h-auto min-h-14 w-full min-w-0 justify-between border-input px-3 py-2 font-normal aria-invalid:border-destructive"
        >
          {chosen === undefined ? (
            <span className="text-muted-foreground">Choose an identity</span>
          ) : (
            <IdentityText identity={chosen} />
          )}
          <ChevronDown aria-hidden className="text-muted-foreground" />
        </Button>
      </DropdownMenuTrigger>
      <DropdownMenuContent
        align="start"
        className="max-h-(--radix-dropdown-menu-content-available-height) w-(--radix-dropdown-menu-trigger-width)"
      >
        <DropdownMenuRadioGroup value={values.identityId} onValueChange={choose}>
          {identities.map((identity) => (
            <IdentityItem key={identity.id} identity={identity} />
          ))}
        </DropdownMenuRadioGroup>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

/** An unavailable identity can have the focus, so that everybody can read why. */
function IdentityItem({ identity }: { identity: IdentityAnswer }) {
  const { id, name, available } = identity;
  return (
    <DropdownMenuRadioItem
      value={id}
      textValue={name}
      className={cn('py-2', !available && 'cursor-not-allowed text-muted-foreground')}
      {...(!available && { 'aria-disabled': true, onSelect: (event) => event.preventDefault() })}
    >
      <IdentityText identity={identity} />
    </DropdownMenuRadioItem>
  );
}

function IdentityText({ identity }: { identity: IdentityAnswer }) {
  const { name, description, productPhotos, available } = identity;
  return (
    <span className="flex min-w-0 flex-1 items-start gap-3 text-left whitespace-normal">
      <IdentityPicture identity={identity} className="mt-0.5 size-12 rounded-md" />
      <span className="grid min-w-0 leading-5">
        <span className="flex flex-wrap items-center gap-x-2">
          <span dir="auto" className="text-sm font-medium break-words">
            {name}
          </span>
          {productPhotos && (
            <Badge variant="outline" className="h-5">
              Product photos
            </Badge>
          )}
          {!available && (
            <Badge variant="outline" className="h-5">
              Unavailable
            </Badge>
          )}
        </span>
        <span dir="auto" className="text-xs leading-5 text-muted-foreground">
          {available ? description : 'It has no active model right now. Come back later.'}
        </span>
      </span>
    </span>
  );
}
