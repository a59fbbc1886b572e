import { useId, useMemo } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { answerDialog, type Reply } from '../../actions/dialogs.ts';
import { isComposing } from '../../composing.ts';
import { keyboard } from '../../controls/shortcuts/keyboard.ts';
import { keyNames } from '../../controls/shortcuts/keys.ts';
import { useApp, useSession } from '../../state/app.ts';
import { type Choice, Choices } from './choices.tsx';
import { QUESTION_KEYS } from './focus.ts';
import { ManyChoices } from './many-choices.tsx';
import { TimeLeft } from './time-left.tsx';
import { WrittenAnswer } from './written-answer.tsx';

interface AnswerProps {
  readonly dialog: OpenDialog;
  readonly onReply: (reply: Reply) => void;
}

interface DialogFormProps {
  readonly dialog: OpenDialog;
  readonly onAnswered: () => void;
}

/** A question of an extension. Escape calls it off. */
export function DialogForm({ dialog, onAnswered }: DialogFormProps) {
  const app = useApp();
  const session = useSession();
  const title = useId();
  const reply = (how: Reply) => {
    app.answers.delete(dialog.id);
    onAnswered();
    answerDialog(session, dialog.id, how);
  };
  return (
    <form
      class="dialog"
      aria-labelledby={title}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // It is not meant for what runs.
        event.stopPropagation();
        event.preventDefault();
        if (!event.repeat) reply({ cancelled: true });
      }}
    >
      <fieldset disabled={!app.may('prompt')}>
        <p class="dialog-head note">
          An extension asks
          <WayIn />
          <TimeLeft dialog={dialog} />
        </p>
        <h2 id={title}>
          <PlainText text={dialog.title} />
        </h2>
        <Answer dialog={dialog} onReply={reply} />
      </fieldset>
    </form>
  );
}

/** How the first question is reached from the message box; the keys of its answers are heard only there. */
const WayIn = () => (
  <span class="way-in" aria-hidden="true">
    {keyNames(QUESTION_KEYS, keyboard).map((name) => (
      <kbd key={name}>{name}</kbd>
    ))}{' '}
    to answer
  </span>
);

function Answer({ dialog, onReply }: AnswerProps) {
  const options = useMemo(() => (dialog.method === 'select' ? dialog.options.map(optionChoice) : []), [dialog]);
  if (dialog.method === 'select') {
    return (
      <>
        <ManyChoices choices={options} onReply={onReply} />
        <div class="dialog-foot">
          <CancelButton onReply={onReply} />
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
        <Choices kind="row" choices={consent} onReply={onReply} />
      </>
    );
  }
  return <WrittenAnswer dialog={dialog} onReply={onReply} cancel={<CancelButton onReply={onReply} />} />;
}

const CancelButton = ({ onReply }: Pick<AnswerProps, 'onReply'>) => (
  <button type="button" class="quiet" onClick={() => onReply({ cancelled: true })}>
    Cancel
  </button>
);

/** The first one has the focus: a key that was not meant for it must not agree to anything. */
const consent: readonly Choice[] = [
  { label: 'No', hotkey: 'n', reply: { confirmed: false } },
  { label: 'Yes', hotkey: 'y', reply: { confirmed: true }, isMain: true },
];

const optionChoice = (value: string, at: number): Choice => ({
  label: value,
  hotkey: at < 9 ? String(at + 1) : undefined,
  reply: { value },
});
