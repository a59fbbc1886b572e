import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../format.ts';
import { announceResolvedDialogs } from '../../actions/dialogs.ts';
import { keysText } from '../../controls/shortcuts/keyboard.ts';
import { lazy } from '../../overlay/sheets.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { DIALOG_KEYS, useDialogFocus } from './dialog-focus.ts';
import { DialogForm } from './dialog-form.tsx';
import type { DialogProps } from './dialog-frame.tsx';

// Loaded with the conversation, whose diffs and colours it uses. Without it, the options are shown as of any dialog.
const ApprovalForm = lazy<DialogProps>({
  load: async () => (await import('../../session-parts.ts')).sessionParts.ApprovalForm,
  whileLoading: () => <form class="dialog" />,
  onError: DialogForm,
});

// An approval that lacks a part, from another agent, is shown as any dialog.
const isApproval = (dialog: OpenDialog | undefined): boolean =>
  dialog?.method === 'select' &&
  (['subject', 'why', 'options'] as const).every((part) => typeof dialog.approval?.[part] === 'object');

/** The open dialogs, in their order. */
export function Dialogs() {
  const app = useApp();
  const session = useSession();
  const dialogs = useComputed(() => session.view.value.dialogs).value;
  const container = useRef<HTMLDivElement>(null);
  const { onAnswered, onFocusIn } = useDialogFocus(
    container,
    dialogs.map(({ id }) => id),
  );
  useEffect(() => announceResolvedDialogs(session, app), [session, app]);
  if (dialogs.length === 0) return null;
  return (
    <div class="dialogs" ref={container} onFocusIn={onFocusIn}>
      {dialogs.map((dialog) => {
        const Form = isApproval(dialog) ? ApprovalForm : DialogForm;
        return <Form key={dialog.id} dialog={dialog} onAnswered={() => onAnswered(dialog.id)} />;
      })}
    </div>
  );
}

/** Announces the first dialog to screen readers, with its shortcut and the number of further ones. */
export function DialogAnnouncement() {
  const { view } = useSession();
  const first = useComputed(() => view.value.dialogs[0]).value;
  const more = useComputed(() => view.value.dialogs.length - 1).value;
  return (
    <p class="hidden-label" role="status">
      {first && (
        <>
          {isApproval(first) ? 'Approval needed' : 'An extension asks'}: <PlainText text={oneLine(first.title, 200)} />{' '}
          ({keysText(DIALOG_KEYS)} leads there)
          {more > 0 && `, and ${more} more`}
        </>
      )}
    </p>
  );
}
