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
    const button = cloneElement(trigger, {
      'aria-haspopup': 'menu',
      'aria-expanded': wanted,
      onPointerEnter: prefetch,
      onFocus: prefetch,
      onClick: () => setWanted(true),
      onKeyDown: (event) => {
        if (event.key === 'ArrowDown') setWanted(true);
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
