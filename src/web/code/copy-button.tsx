/** Copies something, and says that it did. */
export const CopyButton = ({ text }: { readonly text: () => string }) => (
  <button type="button" class="copy" onClick={() => void navigator.clipboard.writeText(text())}>
    Copy
  </button>
);
