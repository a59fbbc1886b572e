/** The custom type of the entries that hold the plan. */
export const TODOS_TYPE = 'tau:todos';
