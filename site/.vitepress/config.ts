import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vitepress"

// `npm run docs` prepares the pages, and the sections of the sidebar.
const source = join(import.meta.dirname, "../pages")
const { sections, title } = JSON.parse(readFileSync(join(source, "site.json"), "utf8"))

/**
 * Returns the classes of a piece of code, one for each declaration of its inline style, such as `code-light__032F62`. The server
 * permits no inline style. `npm run docs` writes the style sheet of all classes that the pages use.
 */
const classesOf = (style: string): string =>
  style
    .split(";")
    .filter((declaration) => declaration !== "")
    .map((declaration) => {
      const [, property, value] = /^--shiki-([a-z-]+):#?([\w-]+)$/.exec(declaration) ?? []
      if (property === undefined) throw new Error(`site/.vitepress/config.ts makes no class of the style "${style}".`)
      return `code-${property}__${value}`
    })
    .join(" ")

/** Writes the names of the packages that the pages contain, for the licences and the bill of materials of a binary. */
const shippedPackages = () => {
  let isForServer = false
  return {
    name: "shipped-packages",
    configResolved: (config: { readonly build: { readonly ssr: boolean | string } }) => {
      isForServer = config.build.ssr !== false
    },
    generateBundle: (_: unknown, bundle: Readonly<Record<string, { readonly moduleIds?: ReadonlyArray<string> }>>) => {
      if (isForServer) return
      const names = Object.values(bundle).flatMap(({ moduleIds = [] }) =>
        moduleIds.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [])
      )
      writeFileSync(join(source, "packages.json"), JSON.stringify([...new Set(names)].toSorted()))
    }
  }
}

export default defineConfig({
  title,
  description: "A Git-driven control plane for plain OpenTofu and Terraform modules",
  srcDir: source,
  outDir: join(source, "../../dist/docs"),
  // The path of the site on its server: by default the path at which svc serves it.
  base: process.env["SVC_DOCS_BASE"] ?? "/docs/",
  srcExclude: ["public/**"],
  // With more, the index of the search has the pages in another order each time.
  buildConcurrency: 1,
  lastUpdated: false,
  // Changing between light and dark would otherwise add an inline style for a moment.
  appearance: { disableTransition: false },
  // Without it, the generator gives the content an inline style.
  contentProps: {},
  markdown: {
    codeTransformers: [
      {
        name: "classes",
        span: (node) => {
          const { style, ...others } = node.properties
          if (typeof style === "string") node.properties = { ...others, class: classesOf(style) }
        }
      }
    ]
  },
  vite: { plugins: [shippedPackages()] },
  themeConfig: { sidebar: sections, outline: { level: [2, 3] }, search: { provider: "local" } }
})
