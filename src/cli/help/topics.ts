/** The help topics besides commands. */
export const topics = {
  modes: { about: 'Chat, one answer, JSON lines, a program at the other end' },
  sessions: { about: 'Where conversations are kept, and how to go on with one' },
  models: { about: 'Which model answers' },
  tools: { about: 'What the agent can do, and what it is told' },
  additions: { about: 'Extensions, skills, templates, servers of tools' },
  rpc: { about: 'How a program drives it' },
  server: { about: 'How to serve sessions, to whom, and how to join one' },
  commands: { about: 'Every command' },
  options: { about: 'Every option' },
  environment: { about: 'What is read from the environment' },
  'exit-codes': { about: 'What the exit code says' },
} as const;

export type Topic = keyof typeof topics;
