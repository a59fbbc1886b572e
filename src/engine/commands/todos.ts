import type { Handlers } from '../dispatch.ts';

export const todos = {
  set_todos: async ({ phases }, { agent }) => {
    const todos = await agent.addons.todos();
    return { todoPhases: [...todos.set(phases)] };
  },
} satisfies Partial<Handlers>;
