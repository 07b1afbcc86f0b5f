import { Effect, FileSystem, Path } from "effect"

const link = /\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)/g

/**
 * Writes a package's README, and the documentation pages to which the README links, into the folder of the package. On these
 * pages, replaces links to pages outside the package with plain text.
 */
export const writeReadme = Effect.fn("writeReadme")(function* (root: string, name: string, folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* files.readFileString(path.join(root, "docs/packages", `${name}.md`))
  const pages = new Set([...text.matchAll(link)].map(([, , target = ""]) => path.basename(target)))
  yield* files.makeDirectory(path.join(folder, "docs"), { recursive: true })
  yield* files.writeFileString(
    path.join(folder, "README.md"),
    text.replaceAll(link, (_, label, target, section = "") => `[${label}](docs/${path.basename(target)}${section})`)
  )
  for (const page of pages) {
    const whole = yield* files.readFileString(path.join(root, "docs", page))
    const inside = whole.replaceAll(link, (found, label, target) => (pages.has(target) ? found : label))
    yield* files.writeFileString(path.join(folder, "docs", page), inside)
  }
})
