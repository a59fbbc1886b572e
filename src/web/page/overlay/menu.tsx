import { useSignal } from '@preact/signals';
import type { TargetedToggleEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../icons.tsx';
import { putBeside } from './beside.ts';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName | undefined;
  readonly isDangerous?: boolean | undefined;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** What the button is called. */
  readonly label: string;
  readonly items: readonly MenuItem[];
}

/** A button that opens a short list of things to do. Arrows go through it, Escape closes it. */
export function Menu({ label, items }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  // A list may have thousands of menus, of which one is open.
  const isWanted = useSignal(false);
  const step = (by: number) => {
    const all = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    all.at((at + by + all.length) % all.length)?.focus();
  };
  const opened = (event: TargetedToggleEvent<HTMLElement>) => {
    const isOpen = event.newState === 'open';
    button.current?.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) step(1);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="quiet icon-only"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded="false"
        popovertarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        popover="auto"
        onBeforeToggle={(event) => {
          isWanted.value = event.newState === 'open';
          putBeside(list.current, button.current);
        }}
        onToggle={opened}
        onKeyDown={(event) => {
          const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (by === 0) return;
          event.preventDefault();
          step(by);
        }}
      >
        {isWanted.value &&
          items.map(({ label: name, icon, isDangerous, onSelect }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              class={isDangerous ? 'dangerous' : ''}
              onClick={() => {
                list.current?.hidePopover();
                onSelect();
              }}
            >
              {icon && <Icon name={icon} />}
              {name}
            </button>
          ))}
      </div>
    </>
  );
}
