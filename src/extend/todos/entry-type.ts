/** The custom entries that hold the plan of a session. */
export const TODOS_TYPE = 'tau:todos';
