import type { TodoTask } from '../protocol/generated/vocabulary.ts';

/** The sign and label of each task status. */
export const todoStatuses: Readonly<Record<TodoTask['status'], { readonly sign: string; readonly word: string }>> = {
  pending: { sign: '○', word: 'to do' },
  in_progress: { sign: '◐', word: 'in progress' },
  completed: { sign: '●', word: 'done' },
  abandoned: { sign: '⊘', word: 'abandoned' },
  blocked: { sign: '⊗', word: 'blocked' },
};
