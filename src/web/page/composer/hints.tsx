import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { keysText } from '../controls/shortcuts/keyboard.ts';
import { useApp, useSession } from '../state/app.ts';
import { hasTouchInput } from '../state/browser-signals.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';
import { parseShellLine } from '../state/draft/shell-runs.ts';
import type { Completer } from './completion/completer.ts';
import { focusMessage } from './focus-message.ts';

const KEYS_WHILE_RUNNING = `${keysText('Enter')} steers · ${keysText('Alt+Enter')} queues · ${keysText('Escape')} stops`;

const SHELL_HINT = 'Runs in the shell; the model sees the output';
const PRIVATE_SHELL_HINT = 'Runs in the shell; the model does not see it';

interface HintsProps {
  readonly draft: MessageDraft;
  readonly completer: Completer;
}

/** Shows the effect of the current text, or the keys for commands, files and the shell. */
export function Hints({ draft, completer }: HintsProps) {
  const app = useApp();
  const { view } = useSession();
  const isRunning = useComputed(() => view.value.running).value;
  const text = draft.text.value;
  // The focussed box offers completions.
  const write = (changed: string) => {
    focusMessage();
    draft.text.value = changed;
  };
  const line = parseShellLine(text);
  const [, name] = /^\/(\S+)\s/.exec(text) ?? [];
  const command = name === undefined ? undefined : completer.commandNamed(name);
  if (line && !app.may('bash')) return <p class="hints">This login may not run commands in the shell</p>;
  if (line?.isPrivate) return <p class="hints">{PRIVATE_SHELL_HINT}</p>;
  if (line) return <p class="hints">{SHELL_HINT}</p>;
  if (command)
    return (
      <p class="hints">
        <code>
          /<PlainText text={[command.name, command.argumentHint].filter(Boolean).join(' ')} />
        </code>{' '}
        <PlainText text={command.description ?? ''} />
      </p>
    );
  const unknown = completer.unknownName(text);
  if (unknown !== undefined)
    return (
      <p class="hints">
        No command, sent as a message:{' '}
        <code>
          /<PlainText text={unknown} />
        </code>
      </p>
    );
  if (isRunning) return <p class="hints">{hasTouchInput() ? '' : KEYS_WHILE_RUNNING}</p>;
  return (
    <p class="hints keys">
      <Key sign="/" means="commands" onClick={() => write(`/${text}`)} />
      <Key sign="@" means="files" onClick={() => write(`${text}${/\S$/.test(text) ? ' ' : ''}@`)} />
      {app.may('bash') && <Key sign="!" means="shell" onClick={() => write(`!${text}`)} />}
    </p>
  );
}

interface KeyProps {
  readonly sign: string;
  readonly means: string;
  readonly onClick: () => void;
}

const Key = ({ sign, means, onClick }: KeyProps) => (
  <button type="button" aria-label={`${sign} ${means}`} onClick={onClick}>
    <kbd>{sign}</kbd> <span class="means">{means}</span>
  </button>
);
