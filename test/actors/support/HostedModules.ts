/** Modules that require something from the host, in one repository, written for the real tool. */

const web = `
variable "session_key" {
  type = string
}
variable "app_url" {
  type = string
}
variable "label" {
  type    = string
  default = "plain"
}
resource "terraform_data" "app" {
  input = {
    url   = var.app_url
    key   = sha256(var.session_key)
    label = var.label
  }
}
output "app_url" {
  value = terraform_data.app.output.url
}
output "key_digest" {
  value = terraform_data.app.output.key
}
output "label" {
  value = terraform_data.app.output.label
}
output "public_endpoint" {
  value = terraform_data.app.output.url
}
output "hidden" {
  value     = var.session_key
  sensitive = true
}
`

const reader = `
variable "greeting" {
  type    = string
  default = "hello"
}
resource "terraform_data" "reader" {
  input = var.greeting
}
output "greeting" {
  value = terraform_data.reader.output
}
`

const signIn = `
variable "site" {
  type = string
}
variable "env" {
  type    = map(string)
  default = {}
}
resource "terraform_data" "site" {
  input = { site = var.site, env = var.env }
}
output "env" {
  value = terraform_data.site.output.env
}
`

const names = ["site", "accounts", "issuer", "client", "redirect", "oidc_introspection_secret"]
const guarded = `${names.map((name) => `variable "${name}" {\n  type = string\n}\n`).join("")}
resource "terraform_data" "site" {
  input = sha256(var.oidc_introspection_secret)
}
output "secret_digest" {
  value = terraform_data.site.output
}
`

const producer = `
resource "terraform_data" "greeting" {
  input = "from the producer"
}
output "greeting" {
  value = terraform_data.greeting.output
}
output "secret" {
  value     = "kept"
  sensitive = true
}
`

const consumer = `
variable "greeting" {
  type    = string
  default = "from the default"
}
resource "terraform_data" "greeting" {
  input = var.greeting
}
output "greeting" {
  value = terraform_data.greeting.output
}
`

const broken = `
resource "terraform_data" "nothing" {}
output "address" {
  value = "javascript:alert(1)"
}
`

const installing = { subject: { source: "installing_principal" } }

const manifest = {
  apiVersion: "svc.com/v2.4",
  kind: "Repository",
  install: {
    modules: {
      web: {
        inputs: [
          {
            name: "label",
            source: { kind: "user" },
            label: { ja: "ラベル", en: "Label" },
            type: "string",
            required: false
          }
        ],
        requires: [
          {
            kind: "secret.generated",
            bytes: 48,
            encoding: "base64url",
            deliver: { variables: { value: "session_key" } }
          },
          { kind: "http.endpoint", deliver: { variables: { url: "app_url" } } }
        ],
        interfaces: [
          {
            key: "ui",
            name: "Web",
            spec: {
              type: "ui.surface",
              version: "1",
              document: { title: "Web" },
              inputs: {
                url: { source: "output", outputName: "app_url", outputType: "url" },
                kind: { source: "literal", value: "page" }
              },
              access: { visibility: "workspace", resourceUriInput: "url" }
            },
            bindingRequests: [{ key: "open", ...installing, permissions: ["ui.open"], delivery: { type: "none" } }]
          }
        ]
      },
      reader: {
        inputs: [],
        requires: [
          {
            kind: "interface.consume",
            key: "surface",
            interface: { type: "ui.surface", version: "1" },
            permissions: ["mcp.invoke"],
            delivery: { type: "oauth2" }
          }
        ]
      },
      "sign-in": {
        inputs: [],
        requires: [
          { kind: "http.endpoint", deliver: { variables: { url: "site" } } },
          {
            kind: "identity.oidc",
            callbackPath: "/auth/callback",
            scopes: ["openid", "profile"],
            deliver: {
              bindings: {
                accountsUrl: "OIDC_ACCOUNTS_URL",
                issuerUrl: "OIDC_ISSUER_URL",
                clientId: "OIDC_CLIENT_ID",
                redirectUri: "OIDC_REDIRECT_URI"
              }
            }
          }
        ]
      },
      guarded: {
        inputs: [],
        requires: [
          { kind: "http.endpoint", deliver: { variables: { url: "site" } } },
          { kind: "secret.generated", deliver: { variables: { value: "oidc_introspection_secret" } } },
          {
            kind: "identity.oidc",
            callbackPath: "/auth/callback",
            scopes: ["openid"],
            deliver: {
              variables: { accountsUrl: "accounts", issuerUrl: "issuer", clientId: "client", redirectUri: "redirect" }
            }
          }
        ]
      },
      broken: {
        inputs: [],
        interfaces: [
          {
            key: "ui",
            name: "Broken",
            spec: {
              type: "ui.broken",
              version: "1",
              document: {},
              inputs: { url: { source: "output", outputName: "address", outputType: "url" } },
              access: { visibility: "workspace" }
            }
          }
        ]
      }
    }
  }
}

export const hostedModules: Readonly<Record<string, string>> = {
  "web/main.tf": web,
  "reader/main.tf": reader,
  "sign-in/main.tf": signIn,
  "guarded/main.tf": guarded,
  "broken/main.tf": broken,
  "plain/producer/main.tf": producer,
  "plain/consumer/main.tf": consumer,
  ".well-known/svc.json": JSON.stringify(manifest)
}
