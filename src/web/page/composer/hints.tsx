import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { inWords } from '../controls/shortcuts/keyboard.ts';
import { useApp, useSession } from '../state/app.ts';
import { shellLine } from '../state/writing/shell-line.ts';
import type { Writing } from '../state/writing/writing.ts';
import type { Completer } from './completion/completer.ts';
import { isTouched } from './pointer.ts';

const KEYS_WHILE_RUNNING = `${inWords('Enter')} steers · ${inWords('Alt+Enter')} queues · ${inWords('Escape')} stops`;

interface HintsProps {
  readonly writing: Writing;
  readonly completer: Completer;
}

/** What can be typed now, and what it would do. */
export function Hints({ writing, completer }: HintsProps) {
  const app = useApp();
  const { view } = useSession();
  const isRunning = useComputed(() => view.value.running).value;
  const text = writing.text.value;
  const line = shellLine(text);
  const [, name] = /^\/(\S+)\s/.exec(text) ?? [];
  const command = name === undefined ? undefined : completer.commandNamed(name);
  if (line && !app.may('bash')) return <p class="hints">This login may not run commands in the shell</p>;
  if (line?.isPrivate) return <p class="hints">Runs in the shell, the model is not told</p>;
  if (line) return <p class="hints">Runs in the shell, the model is told</p>;
  if (command)
    return (
      <p class="hints">
        <code>
          /<PlainText text={[command.name, command.argumentHint].filter(Boolean).join(' ')} />
        </code>{' '}
        <PlainText text={command.description ?? ''} />
      </p>
    );
  const stranger = completer.noCommandIn(text);
  if (stranger !== undefined)
    return (
      <p class="hints">
        No command, sent as a message:{' '}
        <code>
          /<PlainText text={stranger} />
        </code>
      </p>
    );
  if (isRunning) return <p class="hints">{isTouched() ? '' : KEYS_WHILE_RUNNING}</p>;
  return (
    <p class="hints keys">
      <Key sign="/" means="commands" />
      <Key sign="@" means="files" />
      {app.may('bash') && <Key sign="!" means="shell" />}
    </p>
  );
}

const Key = ({ sign, means }: { readonly sign: string; readonly means: string }) => (
  <span>
    <kbd>{sign}</kbd> {means}
  </span>
);
