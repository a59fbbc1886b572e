import { useMemo } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import type { DialogResponse } from '../../actions/dialogs.ts';
import { isComposing } from '../../ime.ts';
import { Choices, type DialogChoice } from './choices.tsx';
import { DialogFrame, type DialogProps, useRespond } from './dialog-frame.tsx';
import { ManyChoices } from './many-choices.tsx';
import { TextAnswer } from './text-answer.tsx';

interface ResponseProps {
  readonly dialog: OpenDialog;
  readonly onResponse: (response: DialogResponse) => void;
}

/** The form of one extension dialog. Escape cancels it. */
export function DialogForm(props: DialogProps) {
  const { dialog } = props;
  const respond = useRespond(props);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || isComposing(event)) return;
    // Escape must not stop the run.
    event.stopPropagation();
    event.preventDefault();
    if (!event.repeat) respond({ cancelled: true });
  };
  return (
    <DialogFrame
      dialog={dialog}
      title={dialog.title}
      head="An extension asks"
      fallback={dialog.method === 'confirm' ? 'Taken as No' : 'Cancelled'}
      onKeyDown={onKeyDown}
    >
      <ResponseFields dialog={dialog} onResponse={respond} />
    </DialogFrame>
  );
}

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
  { label: 'Yes', hotkey: 'y', response: { confirmed: true }, kind: 'main' },
];

const optionChoice = (value: string, at: number): DialogChoice => ({
  label: value,
  hotkey: at < 9 ? String(at + 1) : undefined,
  response: { value },
});
