/** Shows a fatal error with a Retry button. */
export const ErrorPage = ({ reason }: { readonly reason: string }) => (
  <main class="solo">
    <p class="failure" role="alert">
      {reason}
    </p>
    <button type="button" class="main" onClick={() => location.reload()}>
      Retry
    </button>
  </main>
);
