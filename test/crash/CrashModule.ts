/** Returns a module of two notes with a secret, followed by `more`. The second note depends on the first. */
export const crashModule = (notesDir: string, more: string) => `
terraform {
  required_providers {
    demo = { source = "example.test/acme/demo" }
  }
}
variable "greeting" { type = string }
variable "secret" {
  type      = string
  sensitive = true
}
provider "demo" { dir = ${JSON.stringify(notesDir)} }
resource "demo_note" "a" {
  name    = "a"
  content = var.greeting
}
resource "demo_note" "b" {
  name    = "b"
  content = demo_note.a.id
  secret  = var.secret
}
output "hidden" {
  value     = var.secret
  sensitive = true
}
${more}`

/** Declares an output with the address that the operator's check requests. */
export const checkedOutput = (site: string) => `
output "site" { value = ${JSON.stringify(site)} }
`

/**
 * The operator checks every module from the origin after each apply. The check expects 404, which a Git server returns for
 * its root.
 */
export const checkPolicy = (gitOrigin: string) =>
  JSON.stringify({
    baseConfigs: [
      {
        origin: gitOrigin,
        lifecycle: {
          postApply: [
            {
              name: "site",
              kind: "http",
              target: { output: "site" },
              path: "/",
              status: [404],
              timeout: 20,
              interval: 1
            }
          ]
        }
      }
    ]
  })

export const slowNote = `
resource "demo_note" "c" {
  name           = "c"
  content        = "slow"
  delay_after_ms = 60000
}
`
