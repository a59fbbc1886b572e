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

/** Takes the place of a conversation that is being loaded. */
export const Skeleton = () => (
  <div class="skeleton" role="status" aria-label="Loading the conversation">
    <span />
    <span />
    <span />
  </div>
);

/** Takes the place of a part whose code could not be loaded. */
export const LoadFailure = () => (
  <p class="failure" role="alert">
    This part of the page could not be loaded.{' '}
    <button type="button" class="quiet" onClick={() => location.reload()}>
      Load the page again
    </button>
  </p>
);
