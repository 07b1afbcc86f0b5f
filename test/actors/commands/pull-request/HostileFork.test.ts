import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { PullRequestCommands } from "../../../../schema/commands/PullRequestCommands.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import { bound, demoConnection, demoModule } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { onForge, planeOnForge, robot } from "../../support/ForgeWorld.ts"
import { branched, calm, followed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const canaries = {
  /** This value is also in the state, because one of the module's resources stores it. */
  input: "canary-of-the-private-input",
  token: "canary-of-the-connection",
  environment: "canary-of-the-environment",
  providers: "canary-of-the-provider-cache"
}

const module = demoModule(
  `variable "key" {
    type      = string
    sensitive = true
  }
  resource "terraform_data" "kept" { input = var.key }`
)

/** Returns a module that tries every way in which a module may run code or read secrets. */
const hostile = (witness: string) => `
data "external" "leak" { program = ["sh", "-c", "touch ${witness}-external; env; echo '{}'"] }
data "http" "call" { url = "http://127.0.0.1:9/?key=\${var.key}" }
resource "terraform_data" "run" {
  input = var.key
  provisioner "local-exec" { command = "touch ${witness}-provisioner; env" }
}
check "always" {
  data "external" "checked" { program = ["touch", "${witness}-check"] }
  assert {
    condition     = true
    error_message = "never"
  }
}
output "key" { value = nonsensitive(var.key) }
`

describe("A hostile fork", () => {
  tests.live(
    "svc gives a hostile fork only a static review, which runs no code, decrypts nothing and creates no plan",
    () =>
      Effect.gen(function* () {
        const { context, dataDir, moveBranch, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        process.env["SVC_TEST_CANARY"] = canaries.environment
        const connection = yield* demoConnection(canaries.token)
        const { base, capsule, secret, source } = yield* followed(
          "hostile",
          { "main.tf": module },
          { pullRequests: "own_branches" },
          { variables: { key: canaries.input }, options: { providerBindings: [bound(connection.id)] } }
        )
        const witness = join(dataDir, "..", "witness")
        const head = yield* branched(base, "eve", {
          "main.tf": module,
          "evil.tf": hostile(witness),
          "evil.tf.json": JSON.stringify({ data: { external: { json: { program: ["touch", `${witness}-json`] } } } }),
          "terraform.tfvars": 'key = "mine"',
          ".terraformrc": `provider_installation { filesystem_mirror { path = "${witness}" } }`,
          ".terraform/providers/registry.opentofu.org/hashicorp/external/linux_amd64/terraform-provider-external": `#!/bin/sh\ntouch ${witness}-provider\n`
        })
        yield* moveBranch("eve", undefined)
        yield* pullRef(1, head)
        // Pull request 1 is older than the first poll, and no branch points to its head, so svc ignores it. Pull request 2 has
        // the same head.
        yield* looked(source.id, secret)
        yield* pullRef(2, head)
        yield* looked(source.id, secret)

        const one = yield* readOf(source.id, 2)
        expect(one).toMatchObject({ fork: "unknown", headCommit: head, review: { commit: head } })
        expect(one.capsules).toMatchObject([
          { capsuleId: capsule.id, touched: true, refusal: { code: "static_review" } }
        ])
        const [review] = one.review?.modules ?? []
        expect(review?.runsCode.added.map(({ name, path }) => [name, path])).toEqual([
          ["data.external.leak", "evil.tf"],
          ["data.http.call", "evil.tf"],
          ["terraform_data.run provisioner local-exec", "evil.tf"],
          ["data.external.checked", "evil.tf"]
        ])
        expect(review?.unread).toEqual(["evil.tf.json"])
        expect(review?.validation).toMatchObject({
          status: "not_run",
          reason: expect.stringContaining("a static review starts no provider")
        })
        // The tool itself did check the formatting of the files.
        expect(review?.formatting.status).toBe("failed")

        const runs = yield* sql`SELECT type FROM runs WHERE coordinator_kind = 'pull_request' AND type <> 'source_sync'`
        expect(runs).toEqual([])
        for (const name of ["external", "provisioner", "check", "json", "provider"]) {
          expect([name, existsSync(`${witness}-${name}`)]).toEqual([name, false])
        }
        const audit = yield* (yield* Audit).list(workspaceId, context.actor.subject ?? "", {}, { limit: 100 })
        const outside = JSON.stringify([one, audit.items])
        expect(Object.values(canaries).filter((canary) => outside.includes(canary))).toEqual([])
        expect(canarySweep(dataDir, Object.values(canaries))).toEqual([])
        delete process.env["SVC_TEST_CANARY"]
      })
  )

  tests.live(
    "while the tool validates a hostile fork, the fork cannot make the tool read files outside its repository",
    () =>
      Effect.gen(function* () {
        const { dataDir, moveBranch } = yield* TestPlane
        process.env["SVC_TEST_CANARY"] = canaries.environment
        const plain = { "main.tf": `resource "terraform_data" "kept" { input = "mine" }\n` }
        const { base, secret, source } = yield* followed("reader", plain)
        const cached = join(dataDir, "providers", "canary.tf")
        const environment = join(dataDir, "environment.tf")
        for (const [file, canary] of [
          [cached, canaries.providers],
          [environment, canaries.environment]
        ] as const) {
          mkdirSync(dirname(file), { recursive: true })
          writeFileSync(file, canary)
          chmodSync(file, 0o644)
        }
        const reading = (name: string, path: string) => `locals { ${name} = tonumber(file("${path}")) }\n`
        const head = yield* branched(base, "mallory", {
          ...plain,
          "read.tf": [
            reading("cache", cached),
            reading("data", environment),
            reading("environment", "/proc/self/environ"),
            reading("parent", "/proc/1/environ")
          ].join("")
        })
        // The tool follows a symbolic link and reads the target.
        const linked = yield* branched(base, "linked", { ...plain, "leak.tf": { kind: "symlink", target: cached } })
        for (const [number, branch, commit] of [
          [31, "mallory", head],
          [32, "linked", linked]
        ] as const) {
          yield* moveBranch(branch, undefined)
          yield* pullRef(number - 2, commit)
          yield* looked(source.id, secret)
          yield* pullRef(number, commit)
          yield* looked(source.id, secret)
        }
        const seen = [yield* readOf(source.id, 31), yield* readOf(source.id, 32)]
        // The tool evaluated the files, but the review contains neither their contents nor the tool's messages about them.
        expect(seen[0]?.review?.modules[0]?.validation).toMatchObject({ status: "failed" })
        const outside = JSON.stringify(seen)
        expect(Object.values(canaries).filter((canary) => outside.includes(canary))).toEqual([])
        const swept = canarySweep(dataDir, Object.values(canaries))
        expect(swept.filter((found) => !found.startsWith(cached) && !found.startsWith(environment))).toEqual([])
        delete process.env["SVC_TEST_CANARY"]
      })
  )
})

/** Resources whose addresses contain the private input. */
const named = (name: string) => `
resource "terraform_data" "${name}" {
  for_each = toset([nonsensitive(var.key)])
  input    = each.key
}
`

/** Shows the private input in an address, an Output and a message. */
const showing = `${named("shown")}
output "shown" { value = nonsensitive(var.key) }
check "shown" {
  assert {
    condition     = nonsensitive(var.key) == "mine"
    error_message = "It is \${nonsensitive(var.key)}."
  }
}
`

describe.each(["github", "gitlab", "forgejo"] as const)("A hostile fork on %s", (kind) => {
  const connected = suite(planeOnForge(kind))
  afterAll(connected.dispose)

  connected.live(
    "svc sends a forge no secret in comments and statuses about a hostile fork, even after an admin allowed its plan",
    () =>
      Effect.gen(function* () {
        const { context, dataDir, moveBranch } = yield* TestPlane
        process.env["SVC_TEST_CANARY"] = canaries.environment
        const cached = join(dataDir, "providers", "canary.tf")
        mkdirSync(dirname(cached), { recursive: true })
        writeFileSync(cached, canaries.providers)
        const connection = yield* demoConnection(canaries.token)
        const { opens, repository, secret, source, state, statusOf, token } = yield* onForge(
          "hostile",
          { "main.tf": module, "named.tf": named("lost") },
          {},
          { variables: { key: canaries.input }, options: { providerBindings: [bound(connection.id)] } }
        )
        const all = [...Object.values(canaries), token]
        const sources = yield* Sources
        const answers: Array<unknown> = []
        /** Delivers a webhook, and keeps the answer, for whoever holds the secret and for everybody else. */
        const delivered = Effect.gen(function* () {
          const body = Stream.make(new TextEncoder().encode(JSON.stringify(canaries)))
          answers.push(yield* sources.hook(source.id, { proofs: { secrets: [secret] }, body }))
          const { code, message } = yield* Effect.flip(sources.hook(source.id, { proofs: { secrets: ["no"] }, body }))
          answers.push({ code, message })
          yield* calm(source.id)
        })
        const witness = join(dataDir, "..", "witness-of-the-forge")
        const stranger = { headRepositoryId: 4711, author: { id: 666, login: "mallory" } }
        const fork = yield* opens(1, { "main.tf": module, "evil.tf": hostile(witness) }, stranger)
        yield* moveBranch(fork.headRef, undefined)
        yield* delivered
        expect(yield* readOf(source.id, 1)).toMatchObject({
          fork: "yes",
          capsules: [{ touched: true, refusal: { code: "static_review" } }]
        })
        yield* statusOf(fork.headCommit, (text) => text.includes("not planned"))
        for (const name of ["external", "provisioner", "check"]) {
          expect([name, existsSync(`${witness}-${name}`)]).toEqual([name, false])
        }

        // The plan of this commit may use the private input. It destroys a resource, whose address is in the comment.
        const allowed = yield* opens(2, { "main.tf": module, "named.tf": "", "shown.tf": showing }, stranger)
        yield* moveBranch(allowed.headRef, undefined)
        yield* delivered
        const { id } = yield* readOf(source.id, 2)
        yield* (yield* PullRequestCommands).Plan(id, { context, commit: allowed.headCommit })
        yield* delivered
        expect(yield* readOf(source.id, 2)).toMatchObject({ fork: "yes", capsules: [{ verdict: "planned" }] })
        yield* statusOf(allowed.headCommit, (text) => text.includes("planned") && !text.includes("not planned"))

        const comments = [fork, allowed].map((one) => one.comments.filter(({ author }) => author.id === robot.id))
        expect(comments.map((own) => own.length)).toEqual([1, 1])
        expect(comments[1]?.[0]?.body).toContain('terraform_data.lost["')
        const outside = JSON.stringify([state.sent, state.statuses, [...repository.pullRequests.values()], answers])
        expect(all.filter((canary) => outside.includes(canary))).toEqual([])
        const swept = canarySweep(dataDir, all).filter((found) => !found.startsWith(cached))
        expect(swept).toEqual([])
        delete process.env["SVC_TEST_CANARY"]
      })
  )
})
