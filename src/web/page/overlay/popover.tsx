import { useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedToggleEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { putBeside } from './beside.ts';

interface PopoverProps {
  /** What the button is called. */
  readonly label: string;
  readonly button: ComponentChildren;
  /** What is opened is called. */
  readonly title: string;
  /** Made when it is opened. */
  readonly children: () => ComponentChildren;
}

/** A button that opens something small beside it. Escape and a click elsewhere close it. */
export function Popover({ label, button, title, children }: PopoverProps) {
  const id = useId();
  const isOpen = useSignal(false);
  const opener = useRef<HTMLButtonElement>(null);
  const opened = useRef<HTMLDivElement>(null);
  const toggles = ({ newState }: TargetedToggleEvent<HTMLElement>) => {
    isOpen.value = newState === 'open';
    putBeside(opened.current, opener.current);
  };
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
        ref={opened}
        id={id}
        class="popover"
        role="dialog"
        aria-label={title}
        popover="auto"
        onBeforeToggle={toggles}
      >
        {isOpen.value && children()}
      </div>
    </>
  );
}
