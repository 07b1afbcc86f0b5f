/**
 * The module at a path relative to another one, in the same form as that one: a source file for source files, a built one for
 * built ones. Locates the entry points of processes and threads, which no compiler follows.
 *
 * @param base `import.meta.url` of the calling module
 * @param path relative, without its extension
 */
export const moduleBeside = (base: string, path: string): URL =>
  new URL(`${path}${base.slice(base.lastIndexOf("."))}`, base)
