import { Effect, FileSystem, Path } from "effect"

/** Folders of docs/ whose files the package contains. It does not contain the pages for builders and for programs. */
const pageFolders = ["", "operations", "webhooks"]

/** Examples that pages of the package use, by their paths in the repository and in the package. */
const examples = ["examples/proxies/Caddyfile", "examples/proxies/nginx.conf"]

const codeOrLink = /^```[\s\S]*?^```|`[^`\n]+`|\[((?:[^[\]]|\[[^\]]*\])+)\]\(([^()\s]+)\)/gm
const isExternal = (target: string) => /^(?:[a-z]+:|#|\/)/.test(target)

/**
 * Returns the files of the package below its folder for documentation, with their texts. A link to a file that the package
 * does not contain becomes plain text.
 */
export const packagedPages = Effect.fn("deb.packagedPages")(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = yield* Effect.forEach(pageFolders, (folder) =>
    Effect.map(files.readDirectory(path.join(root, "docs", folder)), (names) =>
      names.filter((name) => folder !== "" || name.endsWith(".md")).map((name) => path.join(folder, name))
    )
  )
  /** The place in the package of each file, by its place in the repository. */
  const places = new Map([
    ...found.flat().map((name) => [path.join("docs", name), name] as const),
    ...examples.map((name) => [name, name] as const)
  ])
  const pages = yield* Effect.forEach([...places].toSorted(), ([file, place]) =>
    Effect.map(files.readFileString(path.join(root, file)), (text) => {
      if (!file.endsWith(".md")) return [place, text] as const
      const inside = text.replaceAll(codeOrLink, (whole: string, label: string, target?: string) => {
        if (target === undefined || isExternal(target)) return whole
        const [linked = "", ...section] = target.split("#")
        const there = places.get(path.join(path.dirname(file), linked))
        if (there === undefined) return label
        return `[${label}](${[path.relative(path.dirname(place), there), ...section].join("#")})`
      })
      return [place, inside] as const
    })
  )
  return new Map(pages)
})
