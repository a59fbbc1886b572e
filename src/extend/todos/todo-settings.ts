import type { Settings } from '../../store/settings.ts';

export interface TodoSettings {
  /** Whether the model gets the tool and reminders. */
  readonly isEnabled: boolean;
  readonly maxReminders: number;
  /** In seconds; a negative value keeps finished tasks. */
  readonly clearDelay: number;
}

// The settings with defaults.
export function todoSettings(settings: Settings): TodoSettings {
  return {
    isEnabled: settings['todo.enabled'] ?? true,
    maxReminders: (settings['todo.reminders'] ?? true) ? (settings['todo.reminders.max'] ?? 3) : 0,
    clearDelay: settings['tasks.todoClearDelay'] ?? 60,
  };
}
