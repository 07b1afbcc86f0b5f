/** Replaces a text in a module. Fails if the module no longer contains the text. */
const replaced = async (path: string, from: string, to: string) => {
  const text = await Bun.file(path).text()
  if (!text.includes(from)) throw new Error(`${path} has no ${from} any more: drop this plugin.`)
  return { contents: text.replaceAll(from, to), loader: "js" } as const
}

/**
 * Removes `import.meta.env`, which byte code cannot contain, so that Effect reads its settings only from `process.env`. Both
 * objects are identical in Bun. Also replaces the path of the current module in one module, because that path would put the
 * path of the checkout into the binary. The module uses the path to load only modules that are part of the runtime, so any
 * path will do.
 */
export const withoutImportMeta: Bun.BunPlugin = {
  name: "without-import-meta",
  setup: (build) => {
    build.onLoad({ filter: /\/effect\/dist\/ConfigProvider\.js$/ }, ({ path }) =>
      replaced(path, "import.meta?.env", "undefined")
    )
    build.onLoad({ filter: /\/@effect\/platform-node\/dist\/internal\/http\.js$/ }, ({ path }) =>
      replaced(path, 'typeof __filename === "string" ? __filename : import.meta.url', "process.execPath")
    )
  }
}
