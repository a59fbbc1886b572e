import { AddKeyButton } from '../controls/add-key-button.tsx';
import { useApp } from '../state/app.ts';

/** Explains how to add a real model. */
export function AddModel() {
  const app = useApp();
  return (
    <section class="add-model" aria-labelledby="add-model">
      <h3 id="add-model">Work with a real model</h3>
      {app.may('admin') ? (
        <p>Give tau a key of a provider such as Anthropic, OpenAI, Google or OpenRouter. It stays on the server.</p>
      ) : (
        <p>Ask the owner of this server to add a key: that takes a login with the scope admin.</p>
      )}
      <div class="row">
        <AddKeyButton kind="main" />
        <button
          type="button"
          onClick={() => {
            app.sheet.value = 'models';
          }}
        >
          Choose a model
        </button>
      </div>
      <p class="note">
        Ollama, llama.cpp and LM Studio on the machine of the server are found by themselves while they run. Keys may
        also stand in variables such as <code>ANTHROPIC_API_KEY</code>, or in <code>auth.json</code>.
      </p>
    </section>
  );
}
