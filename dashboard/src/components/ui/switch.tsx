import { Switch as Primitive } from 'radix-ui';
import { useId, type ComponentProps, type ReactNode } from 'react';
import { Label } from '../field.tsx';

export function Switch(props: ComponentProps<typeof Primitive.Root>) {
  return (
    <Primitive.Root
      className="inline-flex h-6 w-10 shrink-0 items-center rounded-full bg-input p-0.5 transition-colors disabled:opacity-50 data-[state=checked]:bg-primary"
      {...props}
    >
      <Primitive.Thumb className="block size-5 rounded-full bg-card transition-transform data-[state=checked]:translate-x-4" />
    </Primitive.Root>
  );
}

interface SwitchFieldProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

export function SwitchField({ label, checked, onChange }: SwitchFieldProps) {
  const id = useId();
  return (
    <span className="flex min-h-10 items-center gap-2">
      <Switch id={id} checked={checked} onCheckedChange={onChange} />
      <Label htmlFor={id}>{label}</Label>
    </span>
  );
}
