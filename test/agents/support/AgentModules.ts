import { RelativePath } from "../../../schema/records/Primitives.ts"
import { printingResource } from "../../support/LogLines.ts"

export const provider = "example.test/acme/demo"

/** Secrets that must never appear in plain text. */
export const canaries = [
  "the-credential-of-the-provider",
  "the-value-of-the-variable",
  "the-credential-of-another-agent"
] as const

const head = (notesDir: string) => `
terraform {
  required_providers {
    demo = { source = "${provider}" }
  }
}
provider "demo" {
  dir = ${JSON.stringify(notesDir)}
}
variable "password" {
  type      = string
  sensitive = true
}
variable "label" { type = string }
`

/** Creates three notes sequentially, so that each note appears in a separate state. */
const notes = (content: string) => `
resource "demo_note" "a" {
  name    = "\${var.label}-a"
  content = ${content}
  secret  = var.password
}
resource "demo_note" "b" {
  name       = "\${var.label}-b"
  content    = "b"
  depends_on = [demo_note.a]
}
resource "demo_note" "c" {
  name       = "\${var.label}-c"
  content    = "c"
  depends_on = [demo_note.b]
}
output "note" { value = demo_note.a.name }
`

/** The number of objects in the large-state modules. */
export const wideCounts = { wide: 200, "half-wide": 40 } as const

/** Objects of a quarter of a megabyte each, with content that compresses poorly. */
const wide = (count: number) => `
resource "demo_note" "many" {
  count   = ${count}
  name    = "\${var.label}-\${count.index}"
  content = join("", [for i in range(64) : join("", [for j in range(64) : sha256("\${var.label} \${count.index} \${i} \${j}")])])
}
`

/** A module without a provider. */
const plain = (resource: string) => `
variable "password" {
  type      = string
  sensitive = true
}
variable "label" { type = string }
${resource}
`

/** Prints every absolute path that the tool can see, and the real path of a program. */
const paths = `
resource "terraform_data" "paths" {
  input = [abspath("\${path.module}/tpl"), path.cwd, abspath(path.root)]
  provisioner "local-exec" { command = "echo really in; pwd -P" }
}
output "module" { value = abspath("\${path.module}/tpl") }
output "cwd" { value = path.cwd }
output "root" { value = abspath(path.root) }
`

const withoutProvider: ReadonlySet<string> = new Set(["plain", "lines", "paths"])

export const modules = (notesDir: string): Readonly<Record<string, string>> => ({
  "notes/main.tf": `${head(notesDir)}${notes('"plain"')}`,
  "built/main.tf": `${head(notesDir)}${notes('file("${path.module}/out/made.txt")')}`,
  "wide/main.tf": `${head(notesDir)}${wide(wideCounts.wide)}`,
  "half-wide/main.tf": `${head(notesDir)}${wide(wideCounts["half-wide"])}`,
  "plain/main.tf": plain('resource "terraform_data" "it" { input = var.label }'),
  "lines/main.tf": plain(printingResource),
  "paths/main.tf": plain(paths)
})

export type ModuleName = "notes" | "built" | "wide" | "half-wide" | "plain" | "lines" | "paths"

export const needsProvider = (module: ModuleName): boolean => !withoutProvider.has(module)

export const pathOf = (module: ModuleName) => RelativePath.make(module)

/** The build of the module `built`, run at the repository root. */
export const sourceBuild = {
  commands: [{ argv: ["sh", "-c", "mkdir -p built/out && echo built > built/out/made.txt"] }],
  outputs: [RelativePath.make("built/out")]
}
