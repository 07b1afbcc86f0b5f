import { Effect, FileSystem, Path } from "effect"

/** Sections of the sidebar, in the order in which readers need them. Every page of `docs/` belongs to one section. */
export const docsSections: Readonly<Record<string, ReadonlyArray<string>>> = {
  Start: ["quickstart", "first-pull-request", "concepts", "install", "compared-with", "known-limits", "roadmap"],
  Use: [
    "terminal",
    "cli",
    "exit-codes",
    "pipeline",
    "pull-requests",
    "approvals",
    "scan",
    "manifest",
    "coming-from",
    "adoption",
    "moving",
    "leaving",
    "notices",
    "api"
  ],
  People: ["invitations", "automation-members", "upstream", "oidc", "identity-tutorial", "oauth-helpers", "forges"],
  Operate: ["operations", "postgres", "hosting", "tls", "sizing", "upgrade", "stuck-run", "agents", "security"],
  Embed: ["embedding"],
  Build: []
}

/** Folders of `docs/` whose pages follow the listed pages of a section, sorted by name. */
const folders: Readonly<Record<string, string>> = {
  operations: "Operate",
  webhooks: "Use",
  packages: "Embed",
  builders: "Build"
}

/** Pages outside `docs/` that the site contains. */
const rootPages = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]

const titleOf = (text: string, page: string) => /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? page

/** Matches a link, a code block or a code span. Code is matched because brackets in code do not form links. */
const codeOrLink = /^```[\s\S]*?^```|`[^`\n]+`|(?<!!)\[((?:[^[\]]|\[[^\]]*\])+)\]\(([^()\s]+)\)/gm
const image = /!\[([^\]]*)\]\(([^()\s]+)\)/g
const isExternal = (target: string) => /^(?:[a-z]+:|#|\/)/.test(target)

/**
 * Returns the path on the site of a file of the repository. The pages of `docs/` are at the top. The root's pages have a folder,
 * because the generator does not tell `SECURITY.md` from `docs/security.md`.
 */
export const sitePath = (file: string): string => {
  if (file === "README.md") return "index.md"
  if (file.startsWith("docs/")) return file.slice("docs/".length)
  return file.includes("/") ? file : `project/${file}`
}

/**
 * Prepares a page. Adapts links to the paths of the site, and converts links to files other than pages to plain HTML, because
 * the generator treats a link without an extension as a page. Returns the text, the linked files and the images, as paths from
 * the root.
 */
export const preparedPage = (text: string, page: string, path: Path.Path) => {
  const copied: Array<string> = []
  const images: Array<string> = []
  const fileOf = (target: string) => path.join(path.dirname(page), target)
  const onSite = (target: string) => {
    const [file = "", ...anchor] = target.split("#")
    const relative = path.relative(path.dirname(sitePath(page)), sitePath(fileOf(file)))
    return [relative, ...anchor].join("#")
  }
  const linked = text.replaceAll(codeOrLink, (whole: string, label: string, target?: string) => {
    if (target === undefined || isExternal(target)) return whole
    const [file = ""] = target.split("#")
    if (file.endsWith(".md")) return `[${label}](${onSite(target)})`
    copied.push(fileOf(file))
    return `<a href="${onSite(target)}" target="_self">${label}</a>`
  })
  const prepared = linked.replaceAll(image, (whole: string, label: string, target: string) => {
    if (isExternal(target)) return whole
    images.push(fileOf(target))
    return `![${label}](${onSite(target)})`
  })
  return { text: prepared, copied, images }
}

interface SidebarItem {
  readonly text: string
  readonly link: string
}

export interface DocsSite {
  /** The text of each page, by its path on the site. */
  readonly pages: ReadonlyMap<string, string>
  /** Files that are linked from pages, and folders that contain such files. */
  readonly copied: ReadonlyArray<string>
  readonly images: ReadonlyArray<string>
  readonly sections: ReadonlyArray<{ readonly text: string; readonly items: ReadonlyArray<SidebarItem> }>
}

const markdown = /\.md$/

/** Reads the pages of the repository, and sorts them for the sidebar. */
export const docsSite = Effect.fn("docsSite")(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const below = Effect.fnUntraced(function* (folder: string) {
    const names = yield* files.readDirectory(path.join(root, folder), { recursive: true })
    return names.filter((name) => markdown.test(name)).map((name) => path.join(folder, name))
  })
  const names = [...(yield* below("docs")), ...(yield* below("examples")), ...rootPages, "README.md"].toSorted()
  const prepared = yield* Effect.forEach(names, (name) =>
    Effect.map(files.readFileString(path.join(root, name)), (text) => [name, preparedPage(text, name, path)] as const)
  )
  const titles = new Map(prepared.map(([name, { text }]) => [name, titleOf(text, name)]))
  const item = (name: string): SidebarItem => ({
    text: titles.get(name) ?? name,
    link: `/${sitePath(name).replace(markdown, "")}`
  })
  const sections = Object.entries(docsSections).map(([text, pages]) => {
    const own = pages.map((page) => `docs/${page}.md`)
    const further = names.filter((name) => folders[name.split("/")[1] ?? ""] === text && name.startsWith("docs/"))
    const root = text === "Build" ? rootPages : []
    return { text, items: [...root, ...own, ...further].map(item) }
  })
  const site: DocsSite = {
    pages: new Map(prepared.map(([name, { text }]) => [sitePath(name), text])),
    copied: [...new Set(prepared.flatMap(([, { copied }]) => copied))].toSorted(),
    images: [...new Set(prepared.flatMap(([, { images }]) => images))].toSorted(),
    sections
  }
  return site
})
