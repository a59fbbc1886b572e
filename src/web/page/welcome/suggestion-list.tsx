import { Icon } from '../icons.tsx';
import type { PromptSuggestion } from './suggestions.ts';

interface SuggestionListProps {
  readonly suggestions: readonly PromptSuggestion[];
  readonly onChoose: (message: string) => void;
}

/** Lists prompt suggestions as buttons. */
export const SuggestionList = ({ suggestions, onChoose }: SuggestionListProps) => (
  <ul class="ideas">
    {suggestions.map(({ title, icon, message }) => (
      <li key={title}>
        <button type="button" onClick={() => onChoose(message)}>
          <Icon name={icon} />
          <span class="suggestion-title">{title}</span>
          <span class="suggestion-message">{message}</span>
        </button>
      </li>
    ))}
  </ul>
);
