import { Icon, type IconName } from '../icons.tsx';

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

// A prompt to offer.
interface PromptSuggestion {
  readonly title: string;
  readonly icon: IconName;
  readonly message: string;
}

/** Prompts for the built-in model; each shows another feature of the page. */
export const builtInSuggestions: readonly PromptSuggestion[] = [
  { title: 'Look around', icon: 'folder', message: 'list the files' },
  {
    title: 'Watch a command',
    icon: 'terminal',
    message: 'run `for i in 1 2 3 4 5; do echo "step $i"; sleep 0.5; done`',
  },
  {
    title: 'Write and change',
    icon: 'rename',
    message: 'write hello-tau.txt: Hello from tau, then write hello-tau.txt: Hello again from tau.',
  },
  { title: 'Think first', icon: 'thought', message: 'think about what makes a good tool' },
  { title: 'Stream a long answer', icon: 'list', message: 'count to 1000' },
  { title: 'Fail and try again', icon: 'alert', message: 'fail with 529' },
];

/** Common prompts for a folder with code. */
export const codeSuggestions: readonly PromptSuggestion[] = [
  {
    title: 'Explain this folder',
    icon: 'folder',
    message: 'Explain what is in this folder, and how it fits together.',
  },
  {
    title: 'Run the tests',
    icon: 'terminal',
    message: 'Find out how the tests are run, run them, and tell me what fails and why.',
  },
  {
    title: 'Review the last commit',
    icon: 'check',
    message: 'Review the last commit: mistakes first, then what could be simpler.',
  },
  {
    title: 'Find loose ends',
    icon: 'search',
    message: 'Find notes in the code about what is still to be done, and sort them by how much they matter.',
  },
];
