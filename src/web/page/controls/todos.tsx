import { useComputed, useSignal } from '@preact/signals';
import type { TodoPhase, TodoTask } from '../../../protocol/generated/vocabulary.ts';
import { readStored, writeStored } from '../../browser-storage.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { todoStatuses } from '../../todo-statuses.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../state/app.ts';

const UNFOLDED_KEY = 'tau-todos-unfolded';

/** The plan of the session, folded to its progress and the current task. */
export function Todos() {
  const session = useSession();
  const phases = useComputed(() => session.view.value.state.todoPhases).value ?? [];
  const isOpen = useSignal(readStored(UNFOLDED_KEY) === 'yes');
  const tasks = phases.flatMap((phase) => phase.tasks);
  if (tasks.length === 0) return null;
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const current = tasks.find(({ status }) => status === 'in_progress') ?? tasks.find((task) => !isFinished(task));
  return (
    <details
      class="todos"
      open={isOpen.value}
      onToggle={({ currentTarget: { open } }) => {
        isOpen.value = open;
        writeStored(UNFOLDED_KEY, open ? 'yes' : 'no');
      }}
    >
      <summary>
        <span class="todo-count">
          {done} of {tasks.length}
        </span>
        <span class="todo-current">{current ? <PlainText text={current.content} /> : 'All done'}</span>
        <Icon name="down" />
      </summary>
      <div class="todo-phases">
        {phases.map((phase, index) => (
          <Phase key={phase.id ?? index} phase={phase} isNamed={phases.length > 1} />
        ))}
      </div>
    </details>
  );
}

interface PhaseProps {
  readonly phase: TodoPhase;
  readonly isNamed: boolean;
}

const Phase = ({ phase, isNamed }: PhaseProps) => (
  <section>
    {isNamed && (
      <h2>
        <PlainText text={phase.name} />
      </h2>
    )}
    <ul>
      {phase.tasks.map((task, index) => (
        <Task key={task.id ?? index} task={task} />
      ))}
    </ul>
  </section>
);

function Task({ task: { status, content, notes } }: { readonly task: TodoTask }) {
  const { sign, word } = todoStatuses[status];
  return (
    <li class={`todo ${status}`}>
      <span class="todo-sign" title={word} aria-hidden="true">
        {sign}
      </span>
      <span class="todo-text">
        <span class="hidden-label">{word}: </span>
        <span class="todo-content">
          <PlainText text={content} />
        </span>
        {(status === 'abandoned' || status === 'blocked') && <span class="todo-word"> {word}</span>}
        {notes !== undefined && (
          <span class="note">
            {' '}
            <PlainText text={notes} />
          </span>
        )}
      </span>
    </li>
  );
}

const isFinished = ({ status }: TodoTask) => status === 'completed' || status === 'abandoned';
