/**
 * Replaces `import.meta.env`, which byte code cannot contain, by `process.env`. Effect reads its settings from both, and they are
 * identical in Bun.
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
