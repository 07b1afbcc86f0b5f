import { readFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vitepress"

// `npm run docs` prepares the pages, and the sections of the sidebar.
const source = join(import.meta.dirname, "../pages")
const { sections, title } = JSON.parse(readFileSync(join(source, "site.json"), "utf8"))

export default defineConfig({
  title,
  description: "A Git-driven control plane for plain OpenTofu and Terraform modules",
  srcDir: source,
  outDir: join(source, "../../dist/docs"),
  // The path of the site on its server.
  base: process.env["SVC_DOCS_BASE"] ?? "/",
  srcExclude: ["public/**"],
  lastUpdated: false,
  themeConfig: { sidebar: sections, outline: { level: [2, 3] }, search: { provider: "local" } }
})
