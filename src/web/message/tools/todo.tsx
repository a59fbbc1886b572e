import { PlainText } from '../../code/plain-text.tsx';
import { entryOf, type Fields, listOf, textOf } from '../../fields.ts';
import { todoStatuses } from '../../todo-statuses.ts';
import { oneLine } from '../../words.ts';
import { Card } from './card.tsx';
import { GenericCard } from './generic.tsx';
import { detailsOf, type ToolUse } from './tool-use.ts';

/** The plan after the model has changed it. */
export function TodoCard(use: ToolUse) {
  const phases = listOf(detailsOf(use)['phases']);
  const tasks = phases.flatMap((phase) => listOf(phase['tasks']));
  if (tasks.length === 0) return <GenericCard {...use} />;
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const current = tasks.find(({ status }) => status === 'in_progress');
  return (
    <Card
      use={use}
      about={<PlainText text={oneLine(textOf(current?.['content']), 120)} />}
      outcome={`${done} of ${tasks.length} done`}
    >
      <Plan phases={phases} />
    </Card>
  );
}

const Plan = ({ phases }: { readonly phases: readonly Fields[] }) => (
  <ul class="plan">
    {phases.map((phase) => (
      <li>
        <PlainText text={textOf(phase['name'])} />
        <ul>
          {listOf(phase['tasks']).map((task) => (
            <Task content={textOf(task['content'])} status={textOf(task['status'])} />
          ))}
        </ul>
      </li>
    ))}
  </ul>
);

function Task({ content, status }: { readonly content: string; readonly status: string }) {
  const isOver = status === 'completed' || status === 'abandoned';
  const { sign, word } = entryOf(todoStatuses, status) ?? { ...todoStatuses.pending, word: status.slice(0, 40) };
  return (
    <li class={isOver ? 'over' : ''}>
      <span class="plan-sign" role="img" aria-label={word || todoStatuses.pending.word}>
        {sign}
      </span>
      <PlainText text={content} />
    </li>
  );
}
