// Adds a dot to the icon of the page while there is something unseen.
export class PageIcon {
  readonly #link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  readonly #plain = this.#link?.href ?? '';

  show({ hasNews }: { readonly hasNews: boolean }): void {
    const dot = "%3Ccircle cx='12' cy='4' r='4' fill='%23e5484d'/%3E";
    const end = '%3C/svg%3E';
    if (this.#link) this.#link.href = hasNews ? this.#plain.replace(end, dot + end) : this.#plain;
  }
}
