/** Two notes of which the second needs the first, with a secret; `more` is appended. */
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

export const slowNote = `
resource "demo_note" "c" {
  name           = "c"
  content        = "slow"
  delay_after_ms = 60000
}
`
