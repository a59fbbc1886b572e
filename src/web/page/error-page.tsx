/** Why there is no page, and a way to try again. */
export const ErrorPage = ({ reason }: { readonly reason: string }) => (
  <main class="alone">
    <p class="failure" role="alert">
      {reason}
    </p>
    <button type="button" class="main" onClick={() => location.reload()}>
      Retry
    </button>
  </main>
);
