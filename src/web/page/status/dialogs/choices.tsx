import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { PlainText } from '../../../code/plain-text.tsx';
import type { DialogResponse } from '../../actions/dialogs.ts';

/** A response to choose. */
export interface DialogChoice {
  readonly label: string;
  /** The key that chooses it. */
  readonly hotkey: string | undefined;
  readonly response: DialogResponse;
  // A class: `main` marks the choice that is usual.
  readonly kind?: string | undefined;
}

export interface ChoicesProps {
  readonly choices: readonly DialogChoice[];
  /** `row` places a few short choices side by side, `options` longer ones. */
  readonly kind?: 'row' | 'options' | undefined;
  readonly onResponse: (response: DialogResponse) => void;
}

// Steps of the arrow keys.
const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Buttons to respond with: by pointer, by arrows and Enter, or by their hotkeys. */
export function Choices({ choices, kind, onResponse }: ChoicesProps) {
  const fieldset = useRef<HTMLFieldSetElement>(null);
  const at = useSignal(0);
  const goTo = (index: number) => {
    const buttons = fieldset.current?.querySelectorAll('button');
    buttons?.item((index + choices.length) % choices.length)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = steps[event.key];
    const chosen = choices.find(({ hotkey }) => hotkey === event.key.toLowerCase());
    // A key that is held down has already answered the previous dialog.
    if (event.repeat && (chosen || event.key === 'Enter')) {
      event.preventDefault();
      return;
    }
    if (step === undefined && !chosen && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (chosen) onResponse(chosen.response);
    else if (step !== undefined) goTo(at.value + step);
    else goTo(event.key === 'Home' ? 0 : -1);
  };
  return (
    <fieldset ref={fieldset} class={`choices ${kind ?? ''}`} onKeyDown={onKeyDown}>
      {choices.map(({ label, hotkey, response, kind: weight }, index) => (
        <button
          key={index}
          type="button"
          class={weight}
          aria-keyshortcuts={hotkey}
          tabIndex={index === at.value ? 0 : -1}
          onFocus={() => {
            at.value = index;
          }}
          // The second click of a double click may meet the next dialog.
          onClick={({ detail }) => detail < 2 && onResponse(response)}
        >
          <span>{label === '' ? '(nothing)' : <PlainText text={label} />}</span>
          {hotkey !== undefined && (
            <span class="hotkey" aria-hidden="true">
              {hotkey}
            </span>
          )}
        </button>
      ))}
    </fieldset>
  );
}
