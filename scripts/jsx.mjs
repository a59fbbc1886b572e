// JSX factory of exported pages: children as arguments make smaller code than as a property.
export { Fragment as jsxFragment, h as jsxElement } from 'preact';
