import type { Schema } from '../../protocol/check.ts';
import type { Tool } from '../tool.ts';

const text: Schema = { type: 'string' };
const status: Schema = { enum: ['pending', 'in_progress', 'completed', 'abandoned', 'blocked'] };
const notes: Schema = { type: 'string', description: 'What came up' };
const details: Schema = { type: 'string', description: 'What exactly is to be done' };
const tasks: Schema = {
  type: 'array',
  items: { type: 'object', properties: { content: text, status, notes, details }, required: ['content'] },
};
const phases: Schema = {
  type: 'array',
  items: { type: 'object', properties: { name: text, tasks }, required: ['name'] },
};

/** Keeps the plan of the session. `execute` is provided by the plan's owner. */
export const todoTool = (execute: Tool['execute']): Tool => ({
  name: 'todo',
  description:
    'Keep the plan of this session: phases with tasks. Carries out ops in order and answers what remains; without any it only shows that. Say at once when a task is completed, or abandoned.',
  parameters: {
    type: 'object',
    properties: {
      ops: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            op: {
              enum: ['replace', 'add_phase', 'add_task', 'update', 'remove_task'],
              description:
                'replace: phases; add_phase: name, tasks; add_task: phase, content; update: id and what is new; remove_task: id',
            },
            phases,
            name: text,
            tasks,
            phase: { type: 'string', description: 'Id or name of a phase' },
            id: { type: 'string', description: 'Id of a task' },
            content: text,
            status,
            notes,
            details,
          },
          required: ['op'],
        },
      },
    },
  },
  execute,
});
