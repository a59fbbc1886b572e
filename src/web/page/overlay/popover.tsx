import type { ComponentChildren } from 'preact';
import { usePopover } from './use-popover.ts';

interface PopoverProps {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly title: string;
  // Rendered while open.
  readonly children: () => ComponentChildren;
}

/** A button that opens a small panel beside it. */
export function Popover({ label, button, title, children }: PopoverProps) {
  const { id, isOpen, button: opener, panel, beforeToggle } = usePopover();
  return (
    <>
      <button
        ref={opener}
        type="button"
        class="chip"
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen.value}
        popovertarget={id}
      >
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        class="popover"
        role="dialog"
        aria-label={title}
        popover="auto"
        onBeforeToggle={beforeToggle}
      >
        {isOpen.value && children()}
      </div>
    </>
  );
}
