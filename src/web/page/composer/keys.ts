import type { ConversationView } from '../../../client/view/view.ts';
import type { Manner } from '../actions/prompting.ts';
import { isComposing } from '../composing.ts';
import { saidBefore } from '../state/writing/said-before.ts';
import type { Writing } from '../state/writing/writing.ts';
import type { Completer, Suggestion } from './completion/completer.ts';
import { isTouched } from './pointer.ts';

interface Desk {
  readonly writing: Writing;
  readonly completer: Completer;
  readonly messages: () => ConversationView['messages'];
  readonly complete: (suggestion: Suggestion | undefined) => void;
  readonly submit: (manner: Manner) => void;
}

/** Does what a key means in the box; answers whether it means anything but itself. */
export function press(event: KeyboardEvent, desk: Desk): boolean {
  if (isComposing(event)) return false;
  const isOpen = desk.completer.suggestions.value.length > 0;
  if (event.key === 'Enter') return enter(event, desk);
  // What is meant by several keys is meant elsewhere.
  if (!isAlone(event)) return false;
  return isOpen ? pressInList(event, desk) : browse(event, desk);
}

function enter(event: KeyboardEvent, desk: Desk): boolean {
  const { altKey, ctrlKey, metaKey } = event;
  const { writing, completer, complete, submit } = desk;
  const isPlain = isAlone(event);
  const completed = completer.completed(writing.text.value, chosenOf(completer));
  const changes = completed !== undefined && completed.text.trimEnd() !== writing.text.value.trimEnd();
  if (isPlain && changes) complete(chosenOf(completer));
  else if (altKey) submit('followUp');
  else if (ctrlKey || metaKey || (isPlain && !isTouched())) submit('steer');
  else return false;
  return true;
}

function pressInList({ key }: KeyboardEvent, { completer, complete }: Desk): boolean {
  if (key === 'ArrowUp') completer.step(-1);
  else if (key === 'ArrowDown') completer.step(1);
  else if (key === 'Escape') completer.dismiss();
  else if (key === 'Tab') complete(chosenOf(completer));
  else return false;
  return true;
}

function browse({ key, currentTarget }: KeyboardEvent, { writing, messages }: Desk): boolean {
  if (!isAtEdge(currentTarget as HTMLTextAreaElement)) return false;
  if (key === 'ArrowUp') return writing.older(() => saidBefore(messages(), writing.said));
  return key === 'ArrowDown' && writing.newer();
}

const isAlone = ({ shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent) => !shiftKey && !altKey && !ctrlKey && !metaKey;

const chosenOf = ({ suggestions, chosen }: Completer) => suggestions.value[chosen.value];

/** Whether arrows that go up or down leave the text. */
const isAtEdge = ({ selectionStart, selectionEnd, value }: HTMLTextAreaElement) =>
  selectionStart === selectionEnd && (selectionStart === 0 || selectionStart === value.length);
