import { Compile } from 'typebox/compile';

export * from 'typebox/compile';
/** `typebox/compile`, also under its older name. */
export const TypeCompiler = { Compile };
