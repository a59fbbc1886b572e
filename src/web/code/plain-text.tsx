/** A text in which what would hide or reorder it can be seen. */
export const PlainText = ({ text }: { readonly text: string }) => <>{text}</>;
