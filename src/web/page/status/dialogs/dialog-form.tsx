import { useId, useMemo } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { type DialogResponse, respondToDialog } from '../../actions/dialogs.ts';
import { keyboard } from '../../controls/shortcuts/keyboard.ts';
import { keyNames } from '../../controls/shortcuts/keys.ts';
import { isComposing } from '../../ime.ts';
import { SecondsLeft } from '../../seconds.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { Choices, type DialogChoice } from './choices.tsx';
import { DIALOG_KEYS } from './dialog-focus.ts';
import { ManyChoices } from './many-choices.tsx';
import { TextAnswer } from './text-answer.tsx';

interface ResponseProps {
  readonly dialog: OpenDialog;
  readonly onResponse: (response: DialogResponse) => void;
}

interface DialogFormProps {
  readonly dialog: OpenDialog;
  readonly onAnswered: () => void;
}

/** The form of one extension dialog. Escape cancels it. */
export function DialogForm({ dialog, onAnswered }: DialogFormProps) {
  const app = useApp();
  const session = useSession();
  const title = useId();
  const respond = (response: DialogResponse) => {
    app.dialogDrafts.delete(dialog.id);
    onAnswered();
    respondToDialog(session, dialog.id, response);
  };
  return (
    <form
      class="dialog"
      aria-labelledby={title}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // Escape must not stop the run.
        event.stopPropagation();
        event.preventDefault();
        if (!event.repeat) respond({ cancelled: true });
      }}
    >
      <fieldset disabled={!app.may('prompt')}>
        <p class="dialog-head note">
          An extension asks
          <DialogKeys />
          <TimeLeft dialog={dialog} />
        </p>
        <h2 id={title}>
          <PlainText text={dialog.title} />
        </h2>
        <ResponseFields dialog={dialog} onResponse={respond} />
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

function ResponseFields({ dialog, onResponse }: ResponseProps) {
  const options = useMemo(() => (dialog.method === 'select' ? dialog.options.map(optionChoice) : []), [dialog]);
  if (dialog.method === 'select') {
    return (
      <>
        <ManyChoices choices={options} onResponse={onResponse} />
        <div class="dialog-foot">
          <CancelButton onResponse={onResponse} />
        </div>
      </>
    );
  }
  if (dialog.method === 'confirm') {
    return (
      <>
        <p class="dialog-message">
          <PlainText text={dialog.message} />
        </p>
        <Choices kind="row" choices={confirmChoices} onResponse={onResponse} />
      </>
    );
  }
  return <TextAnswer dialog={dialog} onResponse={onResponse} cancel={<CancelButton onResponse={onResponse} />} />;
}

const CancelButton = ({ onResponse }: Pick<ResponseProps, 'onResponse'>) => (
  <button type="button" class="quiet" onClick={() => onResponse({ cancelled: true })}>
    Cancel
  </button>
);

// The first choice gets the focus: a stray key must not confirm anything.
const confirmChoices: readonly DialogChoice[] = [
  { label: 'No', hotkey: 'n', response: { confirmed: false } },
  { label: 'Yes', hotkey: 'y', response: { confirmed: true }, isMain: true },
];

const optionChoice = (value: string, at: number): DialogChoice => ({
  label: value,
  hotkey: at < 9 ? String(at + 1) : undefined,
  response: { value },
});

// The remaining time of a dialog and its default outcome; empty without a timeout.
function TimeLeft({ dialog }: { readonly dialog: OpenDialog }) {
  const { timeout } = dialog;
  const until = useMemo(() => performance.now() + (timeout ?? 0), [dialog]);
  if (timeout === undefined) return null;
  return (
    <span class="time-left">
      {dialog.method === 'confirm' ? 'Taken as No' : 'Cancelled'} in <SecondsLeft until={until} />
    </span>
  );
}
