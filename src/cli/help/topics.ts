/** The help topics besides commands. */
export const topics = {
  modes: { about: 'Chat, one answer, JSON events, RPC' },
  sessions: { about: 'Where sessions are stored, and how to continue one' },
  models: { about: 'How to choose a model' },
  tools: { about: 'Tools and the system prompt' },
  extensions: { about: 'Extensions, skills and prompt templates' },
  rpc: { about: 'How a program drives tau' },
  server: { about: 'How to serve sessions, create tokens and attach' },
  commands: { about: 'Every command' },
  options: { about: 'Every option' },
  environment: { about: 'Environment variables' },
  'exit-codes': { about: 'Meaning of the exit codes' },
} as const;

export type Topic = keyof typeof topics;
