/**
 * Locates a module relative to another module, in the same form: a source file next to source files, a built file next to built
 * files. Use it for the entry points of processes and threads, which compilers do not follow.
 * @param base `import.meta.url` of the calling module
 * @param path relative, without its extension
 */
export const moduleBeside = (base: string, path: string): URL =>
  new URL(`${path}${base.slice(base.lastIndexOf("."))}`, base)
