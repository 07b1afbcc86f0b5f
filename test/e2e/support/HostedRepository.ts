import { demo } from "../../support/TestPlane.ts"

/** Modules with the demo provider that use every field with which a manifest can impose requirements on the host. */

const provider = `
terraform {
  required_providers {
    demo = {
      source  = "${demo}"
      version = "1.0.0"
    }
  }
}
`

const variables = ["session_key", "app_url", "oidc_accounts", "oidc_issuer", "oidc_client", "oidc_redirect", "title"]

const app = `${provider}
${variables.map((name) => `variable "${name}" {\n  type = string\n}\n`).join("")}
resource "demo_note" "app" {
  name = "app"
  content = jsonencode({
    key      = sha256(var.session_key)
    url      = var.app_url
    oidc     = [var.oidc_accounts, var.oidc_issuer, var.oidc_client, var.oidc_redirect]
    title    = var.title
    built    = file("\${path.module}/out/words.txt")
  })
}
output "app_url" {
  value = var.app_url
}
output "public_endpoint" {
  value = var.app_url
}
output "content" {
  value = demo_note.app.content
}
`

const reader = `${provider}
resource "demo_note" "reader" {
  name    = "reader"
  content = "reads"
}
`

const label = { ja: "題名", en: "Title" }

const manifest = {
  apiVersion: "svc.com/v2.3",
  kind: "Repository",
  install: {
    defaultModule: "app",
    modules: {
      app: {
        inputs: [{ name: "title", source: { kind: "user" }, label, role: "service_name", type: "string" }],
        features: [{ id: "look", optional: true, label, inputs: ["title"] }],
        requires: [
          { kind: "secret.generated", bytes: 32, deliver: { variables: { value: "session_key" } } },
          { kind: "http.endpoint", deliver: { variables: { url: "app_url" } } },
          {
            kind: "identity.oidc",
            callbackPath: "/auth/callback",
            scopes: ["openid"],
            deliver: {
              variables: {
                accountsUrl: "oidc_accounts",
                issuerUrl: "oidc_issuer",
                clientId: "oidc_client",
                redirectUri: "oidc_redirect"
              }
            }
          }
        ],
        interfaces: [
          {
            key: "ui",
            name: "App",
            spec: {
              type: "ui.surface",
              version: "1",
              document: { title: "App" },
              inputs: { url: { source: "output", outputName: "app_url", outputType: "url" } },
              access: { visibility: "workspace", resourceUriInput: "url" }
            },
            bindingRequests: [
              {
                key: "open",
                subject: { source: "installing_principal" },
                permissions: ["ui.open"],
                delivery: { type: "none" }
              }
            ]
          }
        ],
        sourceBuild: {
          commands: [
            { argv: ["mkdir", "out"], workingDirectory: "app" },
            { argv: ["cp", "words.txt", "app/out/words.txt"] }
          ],
          outputs: ["app/out"]
        }
      },
      reader: {
        inputs: [],
        requires: [
          {
            kind: "interface.consume",
            key: "surface",
            interface: { type: "ui.surface", version: "1" },
            permissions: ["ui.open"],
            delivery: { type: "none" }
          }
        ]
      }
    }
  }
}

export const hostedRepository: Readonly<Record<string, string>> = {
  "app/main.tf": app,
  "reader/main.tf": reader,
  "words.txt": "built words",
  ".well-known/svc.json": JSON.stringify(manifest)
}
