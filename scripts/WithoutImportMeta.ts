/**
 * Effect reads its settings from both `import.meta.env` and `process.env`. They are identical in Bun, but byte code cannot
 * contain the former.
 */
export const withoutImportMeta: Bun.BunPlugin = {
  name: "without-import-meta",
  setup: (build) => {
    build.onLoad({ filter: /\/effect\/dist\/ConfigProvider\.js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      if (!text.includes("import.meta?.env"))
        throw new Error(`${path} has no import.meta?.env any more: drop this plugin.`)
      return { contents: text.replaceAll("import.meta?.env", "undefined"), loader: "js" }
    })
  }
}
