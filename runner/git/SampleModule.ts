// The module of the built-in sample repository: it uses no provider beyond the tool itself, and creates nothing outside its state.

const firstRevision = `variable "name" {
  type        = string
  default     = "world"
  description = "Who is greeted"
}

resource "terraform_data" "greeting" {
  input = "Hello, \${var.name}!"
}

output "greeting" {
  value       = terraform_data.greeting.output
  description = "What the module says"
}
`

const secondRevision = `${firstRevision.replace("Hello", "Good morning")}
resource "terraform_data" "farewell" {
  input = "Goodbye, \${var.name}!"
}

output "farewell" {
  value = terraform_data.farewell.output
}
`

/** The commits of the sample, oldest first. */
export const sampleRevisions = [
  { tag: "v1.0.0", message: "Greet", module: firstRevision },
  { tag: "v1.1.0", message: "Greet better, and say goodbye", module: secondRevision }
]

export const sampleFiles = (module: string): Readonly<Record<string, string>> => ({
  "README.md": "# A sample module\n\nIt greets somebody, and creates nothing outside its own state.\n",
  "main.tf": module
})

/** Path of the sample on the server's own origin. */
export const samplePath = "/samples/hello.git"

/** Returns the address of the sample on a server. The address comes from the server's settings, never from a request. */
export const sampleAddress = (baseUrl: string): string => `${baseUrl}${samplePath}`
