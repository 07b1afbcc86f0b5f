import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vitepress"

// `npm run docs` prepares the pages, and the sections of the sidebar.
const source = join(import.meta.dirname, "../pages")
const { sections, title } = JSON.parse(readFileSync(join(source, "site.json"), "utf8"))

/** The class of each colour of code, by its light and dark form. theme/Pages.css defines the classes. */
const codeClasses: Readonly<Record<string, string>> = {
  "#032F62 #9ECBFF": "code-string",
  "#24292E #E1E4E8": "code-text",
  "#005CC5 #79B8FF": "code-constant",
  "#6F42C1 #B392F0": "code-function",
  "#D73A49 #F97583": "code-keyword",
  "#6A737D #6A737D": "code-comment",
  "#E36209 #FFAB70": "code-parameter",
  "#22863A #85E89D": "code-tag"
}

/** Replaces the inline style of a piece of code by a class, because the server permits no inline style. */
const classOf = (style: string): string => {
  const [, light = "", dark = ""] = /^--shiki-light:(#\w+);--shiki-dark:(#\w+);?$/.exec(style) ?? []
  const found = codeClasses[`${light} ${dark}`.toUpperCase()]
  if (found === undefined) throw new Error(`site/.vitepress/config.ts has no class for code with the style "${style}".`)
  return found
}

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
          if (typeof style === "string") node.properties = { ...others, class: classOf(style) }
        }
      }
    ]
  },
  vite: { plugins: [shippedPackages()] },
  themeConfig: { sidebar: sections, outline: { level: [2, 3] }, search: { provider: "local" } }
})
