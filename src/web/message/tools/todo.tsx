import { PlainText } from '../../code/plain-text.tsx';
import { oneLine } from '../../format.ts';
import { todoStatuses } from '../../todo-statuses.ts';
import { asObjects, asText, ownProperty, type Untyped } from '../../untyped.ts';
import { Card } from './card.tsx';
import { GenericCard } from './generic.tsx';
import { detailsOf, type ToolUse } from './tool-use.ts';

/** The card of `todo`: the plan after the call. */
export function TodoCard(use: ToolUse) {
  const phases = asObjects(detailsOf(use)['phases']);
  const tasks = phases.flatMap((phase) => asObjects(phase['tasks']));
  if (tasks.length === 0) return <GenericCard {...use} />;
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const current = tasks.find(({ status }) => status === 'in_progress');
  return (
    <Card
      use={use}
      about={<PlainText text={oneLine(asText(current?.['content']), 120)} />}
      outcome={`${done} of ${tasks.length} done`}
    >
      <Plan phases={phases} />
    </Card>
  );
}

const Plan = ({ phases }: { readonly phases: readonly Untyped[] }) => (
  <ul class="plan">
    {phases.map((phase) => (
      <li>
        <PlainText text={asText(phase['name'])} />
        <ul>
          {asObjects(phase['tasks']).map((task) => (
            <Task content={asText(task['content'])} status={asText(task['status'])} />
          ))}
        </ul>
      </li>
    ))}
  </ul>
);

function Task({ content, status }: { readonly content: string; readonly status: string }) {
  const isClosed = status === 'completed' || status === 'abandoned';
  const { sign, word } = ownProperty(todoStatuses, status) ?? { ...todoStatuses.pending, word: status.slice(0, 40) };
  return (
    <li class={isClosed ? 'closed' : ''}>
      <span class="plan-sign" role="img" aria-label={word || todoStatuses.pending.word}>
        {sign}
      </span>
      <PlainText text={content} />
    </li>
  );
}
