import type { ConversationView } from '../../../client/view/view.ts';
import type { StreamingBehavior } from '../actions/prompting.ts';
import { isComposing } from '../ime.ts';
import { hasTouchInput } from '../state/browser-signals.ts';
import { inputHistory, type MessageDraft } from '../state/draft/message-draft.ts';
import type { Completer, Completion } from './completion/completer.ts';

interface KeyContext {
  readonly draft: MessageDraft;
  readonly completer: Completer;
  readonly messages: () => ConversationView['messages'];
  readonly complete: (completion: Completion | undefined) => void;
  readonly submit: (behavior: StreamingBehavior) => void;
}

/** Handles a key in the message box; returns whether it was handled. */
export function handleKey(event: KeyboardEvent, context: KeyContext): boolean {
  if (isComposing(event)) return false;
  const isOpen = context.completer.completions.value.length > 0;
  if (event.key === 'Enter') return handleEnter(event, context);
  // Other key combinations are shortcuts.
  if (!hasNoModifiers(event)) return false;
  return isOpen ? handleListKey(event, context) : browseHistory(event, context);
}

function handleEnter(event: KeyboardEvent, context: KeyContext): boolean {
  const { altKey, ctrlKey, metaKey } = event;
  const { draft, completer, complete, submit } = context;
  const isUnmodified = hasNoModifiers(event);
  const completed = completer.applyTo(draft.text.value, chosenCompletion(completer));
  const changes = completed !== undefined && completed.text.trimEnd() !== draft.text.value.trimEnd();
  if (isUnmodified && changes) complete(chosenCompletion(completer));
  else if (altKey) submit('followUp');
  else if (ctrlKey || metaKey || (isUnmodified && !hasTouchInput())) submit('steer');
  else return false;
  return true;
}

function handleListKey({ key }: KeyboardEvent, { completer, complete }: KeyContext): boolean {
  if (key === 'ArrowUp') completer.step(-1);
  else if (key === 'ArrowDown') completer.step(1);
  else if (key === 'Escape') completer.dismiss();
  else if (key === 'Tab') complete(chosenCompletion(completer));
  else return false;
  return true;
}

function browseHistory({ key, currentTarget }: KeyboardEvent, { draft, messages }: KeyContext): boolean {
  if (!isAtEdge(currentTarget as HTMLTextAreaElement)) return false;
  if (key === 'ArrowUp') return draft.older(() => inputHistory(messages(), draft.history));
  return key === 'ArrowDown' && draft.newer();
}

const hasNoModifiers = ({ shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent) =>
  !shiftKey && !altKey && !ctrlKey && !metaKey;

const chosenCompletion = ({ completions: suggestions, chosen }: Completer) => suggestions.value[chosen.value];

/** Whether the caret is at the start or end, so that up and down keys leave the text. */
const isAtEdge = ({ selectionStart, selectionEnd, value }: HTMLTextAreaElement) =>
  selectionStart === selectionEnd && (selectionStart === 0 || selectionStart === value.length);
