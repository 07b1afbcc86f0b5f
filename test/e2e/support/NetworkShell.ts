import { readFileSync } from "node:fs"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { platform } from "../../../src/composition/Platform.ts"
import { hostedServer } from "./HostedServer.ts"
import { shellOf } from "./Shell.ts"

/** The page whose commands people and scripts use every day. */
export const terminalPage = readFileSync(new URL("../../../docs/terminal.md", import.meta.url), "utf8")
const [, values = ""] = /^```json\n(.*?)^```$/ms.exec(terminalPage) ?? []

export const policyOf = (action: string) => `
variable "region" {
  type = string
}
resource "terraform_data" "policy" {
  input = jsonencode({ Statement = [{ Effect = "Allow", Action = ["${action}"], Resource = "arn:aws:s3:::assets-of-the-company/*" }, { Effect = "Deny", Action = ["s3:DeleteBucket"], Resource = "*" }] })
}
output "greeting" {
  value = "${action} in \${var.region}"
}
`

export const services = Layer.merge(platform, FetchHttpClient.layer)

/** A server with the module of the page, and the shell of a person who may do everything there. */
export const network = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const server = yield* hostedServer({ "network/main.tf": policyOf("s3:GetObject") })
  yield* server.client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
  const shell = yield* shellOf({ SVC_URL: server.url, SVC_TOKEN: Redacted.value(server.token) })
  yield* files.writeFileString(`${shell.home}/values.json`, values)
  const real = (line: string) => line.replace("https://git.example.com/infra.git", server.repositoryUrl)
  const run = (line: string) => shell.run(real(line))
  return { server, shell, run }
})

const isReady = ["bash", "jq", "terraform"].every((program) => Bun.which(program) !== null)

/** Whether this machine lacks something that the commands of the page need. */
export const isIncomplete = !isReady && process.env["SVC_TEST_REQUIRE_ALL"] !== "1"
