import type { Settings } from '../../store/settings.ts';

export interface TodoSettings {
  /** Whether the model is offered the tool by itself, and reminded. */
  readonly isEnabled: boolean;
  readonly maxReminders: number;
  /** Seconds after which finished tasks go; less than none: never. */
  readonly clearDelay: number;
}

/** What the settings come to, with the built-in defaults for what they leave open. */
export function todoSettings(settings: Settings): TodoSettings {
  return {
    isEnabled: settings['todo.enabled'] ?? true,
    maxReminders: (settings['todo.reminders'] ?? true) ? (settings['todo.reminders.max'] ?? 3) : 0,
    clearDelay: settings['tasks.todoClearDelay'] ?? 60,
  };
}
