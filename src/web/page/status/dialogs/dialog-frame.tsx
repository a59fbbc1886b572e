import type { ComponentChildren } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { type DialogResponse, respondToDialog } from '../../actions/dialogs.ts';
import { keyboard } from '../../controls/shortcuts/keyboard.ts';
import { keyNames } from '../../controls/shortcuts/keys.ts';
import { SecondsLeft } from '../../seconds.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { DIALOG_KEYS } from './dialog-focus.ts';

/** An open dialog, and what to do once the user has answered it here. */
export interface DialogProps {
  readonly dialog: OpenDialog;
  readonly onAnswered: () => void;
}

/** Returns a function that answers a dialog once and drops the text typed for it. */
export function useRespond({ dialog, onAnswered }: DialogProps): (response: DialogResponse) => void {
  const { dialogDrafts } = useApp();
  const session = useSession();
  return (response) => {
    dialogDrafts.delete(dialog.id);
    onAnswered();
    respondToDialog(session, dialog.id, response);
  };
}

interface DialogFrameProps {
  readonly dialog: OpenDialog;
  readonly title: string;
  readonly head: ComponentChildren;
  // The outcome without an answer in time.
  readonly fallback: string;
  // An additional class.
  readonly kind?: string | undefined;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** The form of a dialog: its head and title, with the ways to answer it as children. */
export function DialogFrame({ dialog, title, head, fallback, kind = '', onKeyDown, children }: DialogFrameProps) {
  const heading = useId();
  return (
    <form
      class={`dialog ${kind}`}
      aria-labelledby={heading}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
    >
      <fieldset disabled={!useApp().may('prompt')}>
        <p class="dialog-head note">
          {head}
          <DialogKeys />
          <TimeLeft dialog={dialog} fallback={fallback} />
        </p>
        <h2 id={heading}>
          <PlainText text={title} />
        </h2>
        {children}
      </fieldset>
    </form>
  );
}

/** Shows the shortcut to the first dialog; hotkeys work only inside it. */
const DialogKeys = () => (
  <span class="dialog-keys" aria-hidden="true">
    {keyNames(DIALOG_KEYS, keyboard).map((name) => (
      <kbd key={name}>{name}</kbd>
    ))}{' '}
    to answer
  </span>
);

// The remaining time of a dialog and its default outcome; empty without a timeout.
function TimeLeft({ dialog, fallback }: Pick<DialogFrameProps, 'dialog' | 'fallback'>) {
  const { timeout } = dialog;
  const until = useMemo(() => performance.now() + (timeout ?? 0), [dialog]);
  if (timeout === undefined) return null;
  return (
    <span class="time-left">
      {fallback} in <SecondsLeft until={until} />
    </span>
  );
}
