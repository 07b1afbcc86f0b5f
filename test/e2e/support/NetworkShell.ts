import { readFileSync } from "node:fs"
import { ConfigProvider, Effect, FileSystem, Layer, Redacted } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { FetchHttpClient } from "effect/http"
import { platform } from "../../../src/composition/Platform.ts"
import { svc } from "../../src/cli/support/CommandLine.ts"
import { hostedServer, personPassword, publicOrigin } from "./HostedServer.ts"
import { shellOf } from "./Shell.ts"

/** The page that describes the commands for everyday use by people and scripts. */
export const terminalPage = readFileSync(new URL("../../../docs/terminal.md", import.meta.url), "utf8")
const [values = "", credentials = ""] = [...terminalPage.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text]) => text)

const policyOf = (action: string) => `
variable "region" {
  type = string
}
variable "suffix" {
  type    = string
  default = ""
}
resource "terraform_data" "policy" {
  input = jsonencode({ Statement = [{ Effect = "Allow", Action = ["${action}"], Resource = "arn:aws:s3:::assets-of-the-company/*" }, { Effect = "Deny", Action = ["s3:DeleteBucket"], Resource = "*" }] })
}
output "greeting" {
  value = "${action} in \${var.region}\${var.suffix}"
}
`

export const services = Layer.merge(platform, FetchHttpClient.layer)

/** The page's second module, whose infrastructure already exists. */
const queue = `
resource "terraform_data" "queue" {
  input = "orders"
}
output "queue" {
  value = terraform_data.queue.output
}
`

/** Returns the files of the page's repository, at a commit from which the page's next steps work. */
export const modulesWith = (action: string) => ({ "network/main.tf": policyOf(action), "queue/main.tf": queue })

/** Creates, without svc, a state that the tool writes for the infrastructure that the page adopts. */
export const existingState = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const work = `${folder}/existing`
  yield* files.makeDirectory(work)
  yield* files.writeFileString(`${work}/main.tf`, queue)
  for (const args of [["init"], ["apply", "-auto-approve"]]) {
    const quiet = {
      cwd: work,
      stdout: "ignore",
      stderr: "ignore",
      env: { CHECKPOINT_DISABLE: "1" },
      extendEnv: true
    } as const
    const code = yield* spawner.exitCode(ChildProcess.make("terraform", [...args, "-no-color"], quiet))
    if (Number(code) !== 0) return yield* Effect.die(`terraform ${args.join(" ")} ended with ${code}`)
  }
  yield* files.copyFile(`${work}/terraform.tfstate`, `${folder}/terraform.tfstate`)
})

/** Creates a newcomer's shell, and starts a server with the page's modules. */
export const newcomer = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const server = yield* hostedServer(modulesWith("s3:GetObject"))
  const shell = yield* shellOf({ SVC_URL: server.url, SVC_TOKEN: Redacted.value(server.token) })
  yield* files.writeFileString(`${shell.home}/values.json`, values)
  yield* files.writeFileString(`${shell.home}/credentials.json`, credentials)
  yield* files.writeFileString(`${shell.home}/token.json`, '{"token":"glpat-of-the-walk"}')
  yield* files.writeFileString(`${shell.home}/values.tfvars`, 'suffix = "!"\n')
  yield* files.writeFileString(`${shell.home}/region.txt`, "east\n")
  yield* files.writeFileString(`${shell.home}/address.txt`, "https://hooks.example.com/services/T/B/X\n")
  yield* files.writeFileString(`${shell.home}/password.txt`, `${personPassword}\n`)
  const real = (line: string) => line.replace("https://git.example.com/infra.git", server.repositoryUrl)
  const run = Effect.fnUntraced(function* (line: string) {
    const end = yield* shell.run(real(line))
    // Links use the public origin, where no server listens in this test.
    const link = `${shell.home}/link.txt`
    if (!(yield* files.exists(link))) return end
    yield* files.writeFileString(link, (yield* files.readFileString(link)).replace(publicOrigin, server.url))
    return end
  })
  const config = ConfigProvider.layer(ConfigProvider.fromEnvRecord(shell.env))
  /** Like `run`, but much faster, because the command runs in this process. The line must not use files or shell syntax. */
  const soon = (line: string) =>
    /["'$<>|=*]|\.(?:json|txt|tfvars|tar)/.test(line)
      ? run(line)
      : svc(real(line).split(" ").slice(1)).pipe(
          Effect.map(({ code, error, out }) => ({ code, error, out: `${out}\n` })),
          Effect.provide(config)
        )
  return { server, shell, run, soon }
})

/** Extends `newcomer` with a Workspace, and with a pool that provides credentials for that Workspace. */
export const network = Effect.gen(function* () {
  const place = yield* newcomer
  yield* place.server.client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
  yield* place.server.providing("eu-west", "aws-production", "acme")
  return place
})

const isReady = ["bash", "jq", "terraform"].every((program) => Bun.which(program) !== null)

/** True if this machine lacks a program that the page's commands need. */
export const isIncomplete = !isReady && process.env["SVC_TEST_REQUIRE_ALL"] !== "1"
