import { Switch as Primitive } from 'radix-ui';
import type { ComponentProps } from 'react';

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
