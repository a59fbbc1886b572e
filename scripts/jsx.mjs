// What JSX becomes in exported pages: children as arguments take less room than as a property.
export { Fragment as jsxFragment, h as jsxElement } from 'preact';
