import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { stop } from '../actions/prompting.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../state/app.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';
import { parseShellLine } from '../state/draft/shell-runs.ts';
import type { Completer } from './completion/completer.ts';
import { Hints } from './hints.tsx';

interface ToolRowProps {
  readonly draft: MessageDraft;
  readonly completer: Completer;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onQueue: () => void;
}

/** The buttons below the message box: attach, queue, send and stop. */
export function ToolRow({ draft, completer, onFiles, onQueue }: ToolRowProps) {
  const session = useSession();
  const isRunning = useComputed(() => session.view.value.running).value;
  const isBusy = useComputed(() => session.view.value.running || session.view.value.compacting).value;
  const blockedBy = session.blockedBy.value;
  const isForShell = parseShellLine(draft.text.value) !== undefined;
  const isSteering = isRunning && !isForShell;
  const { isEmpty, isReady } = draft;
  return (
    <div class="composer-tools">
      <AttachButton onFiles={onFiles} />
      <Hints draft={draft} completer={completer} />
      {isSteering && isReady && (
        <button type="button" class="quiet" title="Wait until the run is over" onClick={onQueue}>
          Queue
        </button>
      )}
      {!(isBusy && isEmpty) && (
        <button type="submit" class="main" disabled={!isReady && !isForShell}>
          <Icon name={isForShell ? 'terminal' : 'send'} />
          {isForShell ? 'Run' : isSteering ? 'Steer' : 'Send'}
        </button>
      )}
      {isBusy && (
        <button
          type="button"
          class="stop"
          title={blockedBy}
          disabled={blockedBy !== undefined}
          onClick={() => void stop(session, draft)}
        >
          <Icon name="stop" />
          Stop
        </button>
      )}
    </div>
  );
}

function AttachButton({ onFiles }: Pick<ToolRowProps, 'onFiles'>) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Attach files"
        title="Attach images and text files"
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}
