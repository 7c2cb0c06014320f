import { cloneElement, lazy, Suspense, useState, type ComponentType, type ReactElement } from 'react';
import type { ButtonProps } from './ui/button.tsx';

/** The button that opens a menu. It passes its props on. */
export type MenuTrigger = ReactElement<ButtonProps>;

/**
 * A menu whose code is loaded when a pointer or the focus first reaches its button.
 * @param load imports a component that shows its trigger with the menu open below it.
 */
export function lazyMenu(load: () => Promise<{ default: ComponentType<{ trigger: MenuTrigger }> }>) {
  const Menu = lazy(load);
  const prefetch = (): void => void load().catch(() => {});
  return function LazyMenu({ trigger }: { trigger: MenuTrigger }) {
    const [wanted, setWanted] = useState(false);
    // Only once its code is there, so that a lost network costs a message and not the page.
    const open = (): void => void load().then(() => setWanted(true), notifyOfFailure);
    const button = cloneElement(trigger, {
      'aria-haspopup': 'menu',
      'aria-expanded': wanted,
      onPointerEnter: prefetch,
      onFocus: prefetch,
      onClick: open,
      onKeyDown: (event) => {
        if (event.key === 'ArrowDown') open();
      },
    });
    if (!wanted) return button;
    return (
      <Suspense fallback={button}>
        <Menu trigger={trigger} />
      </Suspense>
    );
  };
}

async function notifyOfFailure(): Promise<void> {
  const { toast } = await import('sonner');
  toast.error('The menu could not be loaded. Check your connection, or reload the page.');
}
