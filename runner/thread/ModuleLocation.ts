/**
 * The module at a path from another one, in the form in which that one is itself: a source file beside source files, a built one beside
 * built ones. Entry points of processes and threads are named by it, which no compiler follows.
 *
 * @param base `import.meta.url` of the module that asks
 * @param path relative, without its extension
 */
export const moduleBeside = (base: string, path: string): URL =>
  new URL(`${path}${base.slice(base.lastIndexOf("."))}`, base)
