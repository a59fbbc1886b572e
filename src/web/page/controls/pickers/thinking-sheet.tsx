import { useComputed } from '@preact/signals';
import type { ThinkingLevel } from '../../../../protocol/generated/vocabulary.ts';
import { chooseThinkingLevel, thinkingLevels } from '../../actions/models.ts';
import { useSession } from '../../state/app.ts';
import { PickSheet } from './pick-sheet.tsx';

const descriptions: Readonly<Record<ThinkingLevel, string>> = {
  off: 'answers at once',
  minimal: 'a moment, for simple changes',
  low: 'a little, for everyday work',
  medium: 'a balance of care and speed',
  high: 'thorough, for hard problems',
  xhigh: 'longer still, for the hardest',
  max: 'as long as the model can',
};

/** The sheet that chooses the thinking level. */
export function ThinkingSheet() {
  const session = useSession();
  const current = useComputed(() => session.view.value.state.thinkingLevel).value;
  return (
    <PickSheet<ThinkingLevel>
      title="Thinking"
      label="Thinking levels"
      hasSearch={false}
      load={() => thinkingLevels(session)}
      itemOf={(level) => ({
        id: level,
        words: level,
        isCurrent: level === current,
        content: (
          <span class="level-row">
            <span class="level">{level}</span> <span class="note">{descriptions[level]}</span>
          </span>
        ),
      })}
      choose={(level, options) => chooseThinkingLevel(session, level, options)}
    />
  );
}
