import { useComputed, useSignal } from '@preact/signals';
import type { Approval } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { ViewRoot } from '../../../message/view-state.tsx';
import { focusMessage } from '../../composer/focus-message.ts';
import { Icon } from '../../icons.tsx';
import { isComposing } from '../../ime.ts';
import { useApp, useSession } from '../../state/app.ts';
import { Choices } from '../dialogs/choices.tsx';
import { DialogForm } from '../dialogs/dialog-form.tsx';
import { DialogFrame, type DialogProps, useRespond } from '../dialogs/dialog-frame.tsx';
import { approvalChoices, kindText, sourceText } from './approval-options.ts';
import { ExactText } from './exact-text.tsx';
import { Subject } from './subject.tsx';

/** The question whether a tool call may run. Escape leaves the form and answers nothing. */
export function ApprovalForm(props: DialogProps) {
  const { dialog } = props;
  const { dialogDrafts } = useApp();
  const message = useSignal(dialogDrafts.get(dialog.id) ?? '');
  const respond = useRespond(props);
  const approval = dialog.method === 'select' ? dialog.approval : undefined;
  if (dialog.method !== 'select' || !approval) return <DialogForm {...props} />;
  const choices = approvalChoices(approval, dialog.options, message.value.trim());
  const denial = choices.find(({ hotkey }) => hotkey === 'n');
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const isInField = event.target instanceof HTMLInputElement;
    const chosen = isInField
      ? event.key === 'Enter' && message.value.trim() !== '' && denial
      : choices.find(({ hotkey }) => hotkey === event.key.toLowerCase());
    if (event.key !== 'Escape' && !chosen) return;
    // Escape must not stop the run.
    event.stopPropagation();
    event.preventDefault();
    if (event.key === 'Escape') focusMessage();
    // A key that is held down has already answered the previous dialog.
    else if (chosen && !event.repeat) respond(chosen.response);
  };
  return (
    <DialogFrame
      dialog={dialog}
      title={approval.title}
      kind="approval"
      fallback="Denied"
      head={<Head approval={approval} id={dialog.id} />}
      onKeyDown={onKeyDown}
    >
      {approval.description !== undefined && (
        <p class="dialog-message">
          <PlainText text={approval.description} />
        </p>
      )}
      <ViewRoot of={dialog}>
        <div class="tool subject">
          <Subject subject={approval.subject} />
        </div>
      </ViewRoot>
      <Cautions approval={approval} />
      <Circumstances approval={approval} />
      <Choices kind="options" choices={choices} onResponse={respond} />
      {denial && (
        <input
          class="denial"
          aria-label="Reason for a denial"
          placeholder="Why not? For the model, with a denial"
          autocomplete="off"
          defaultValue={message.peek()}
          onInput={({ currentTarget: { value } }) => {
            message.value = value;
            dialogDrafts.set(dialog.id, value);
          }}
        />
      )}
    </DialogFrame>
  );
}

interface ApprovalProps {
  readonly approval: Approval;
}

/** The effect of the call and its tool, and the position among several open dialogs. */
function Head({ approval, id }: ApprovalProps & { readonly id: string }) {
  const { view } = useSession();
  const position = useComputed(() => {
    const { dialogs } = view.value;
    return dialogs.length > 1 ? `${dialogs.findIndex((one) => one.id === id) + 1} of ${dialogs.length}` : undefined;
  }).value;
  return (
    <span class="approval-kind">
      <Icon name="shield" />
      <span>
        <PlainText text={[kindText(approval), approval.toolName, position].filter(Boolean).join(' · ')} />
      </span>
    </span>
  );
}

/** The reasons to be careful with an approval. */
function Cautions({ approval }: ApprovalProps) {
  const { subject, isCut } = approval;
  const hooks = subject.type === 'command' ? (subject.hooks ?? []) : [];
  const source = sourceText(approval);
  return (
    <>
      {source !== undefined && <p class="note caution">{source}</p>}
      {hooks.length > 0 && (
        <p class="note caution">
          Git runs these hooks with it, also outside:{' '}
          <code>
            <ExactText text={hooks.join(', ')} />
          </code>
        </p>
      )}
      {isCut && <p class="note caution">It is too long: only a part of it is shown here.</p>}
    </>
  );
}

/** The folder of a command, why an approval is needed, and the rule that “always” saves. */
function Circumstances({ approval: { subject, why, options } }: ApprovalProps) {
  const saved = options.find(({ kind, rule }) => kind === 'allow_always' && rule !== undefined)?.rule;
  return (
    <dl class="circumstances note">
      {subject.type === 'command' && <Circumstance name="Folder" value={subject.cwd} />}
      <Circumstance name="Mode" value={why.mode} />
      {why.rule !== undefined && <Circumstance name="Rule" value={why.rule} />}
      {saved !== undefined && <Circumstance name="“Always” saves for this project" value={saved} />}
    </dl>
  );
}

const Circumstance = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>{name}</dt>{' '}
    <dd>
      <ExactText text={value} />
    </dd>
  </div>
);
