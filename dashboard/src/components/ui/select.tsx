import { Check, ChevronDown } from 'lucide-react';
import { Select as Primitive } from 'radix-ui';
import { use, type ComponentProps, type ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';
import { ControlContext, controlClasses } from './input.tsx';
import { itemClasses, popupClasses } from './popup-classes.ts';

interface SelectProps extends ComponentProps<typeof Primitive.Root> {
  placeholder?: string;
  /** `SelectItem`s. */
  children: ReactNode;
}

export function Select({ placeholder, children, ...props }: SelectProps) {
  return (
    <Primitive.Root {...props}>
      <Primitive.Trigger
        className={cn(
          controlClasses,
          'flex h-10 items-center justify-between gap-2 text-left data-placeholder:text-muted-foreground *:data-[slot=value]:truncate [&>span]:truncate',
        )}
        {...use(ControlContext)}
      >
        <Primitive.Value placeholder={placeholder} />
        <Primitive.Icon asChild>
          <ChevronDown aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        </Primitive.Icon>
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          position="popper"
          sideOffset={4}
          className={cn(
            popupClasses,
            'max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width)',
          )}
        >
          <Primitive.Viewport>{children}</Primitive.Viewport>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

export function SelectItem({ children, ...props }: ComponentProps<typeof Primitive.Item>) {
  return (
    <Primitive.Item className={cn(itemClasses, 'pr-8 wrap-anywhere')} {...props}>
      <Primitive.ItemText>{children}</Primitive.ItemText>
      <Primitive.ItemIndicator className="absolute right-2">
        <Check aria-hidden className="size-4" />
      </Primitive.ItemIndicator>
    </Primitive.Item>
  );
}
