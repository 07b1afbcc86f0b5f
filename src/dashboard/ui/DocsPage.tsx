/** Returns the address of a page of the documentation, given as its path in the repository, or of its first page. */
export const docsPage = (page?: string): string =>
  page === undefined ? "/docs/" : `/docs/${page.replace(/^docs\//, "").replace(/\.md$/, ".html")}`

/** A link to a page of the documentation. The text is the page's path, which also finds it in the repository. */
export const DocsLink = ({ page }: { readonly page: string }) => (
  <a href={docsPage(page)}>
    <code>{page}</code>
  </a>
)
