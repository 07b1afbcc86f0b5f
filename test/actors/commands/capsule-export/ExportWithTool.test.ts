import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, bound, demoModule, note, planned, replanned } from "../../../support/Journey.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { demo, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { barePlan, unpacked } from "../../support/UnpackedExport.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const password = "correct-horse-7d1e"

/**
 * A module in a subfolder. It uses a sibling module and declares its own backend. The module also has files that would
 * change the plan if they were exported.
 */
const siblings = {
  "apps/web/main.tf": `
    terraform {
      backend "s3" {
        bucket = "nowhere"
        key    = "web"
        region = "none"
      }
    }
    variable "region" { type = string }
    variable "size" {
      type    = object({ cpu = number, tags = list(string) })
      default = { cpu = 1, tags = [] }
    }
    variable "password" {
      type      = string
      sensitive = true
    }
    module "shared" {
      source = "../../modules/shared"
      name   = var.region
    }
    resource "terraform_data" "web" { input = [var.region, var.size, var.password, module.shared.name] }
    output "region" { value = var.region }`,
  "apps/web/prod.auto.tfvars": `region = "from-the-repository"\n`,
  "apps/web/terraform.tfstate": `{"version":4}\n`,
  "modules/shared/main.tf": `
    variable "name" { type = string }
    resource "terraform_data" "shared" { input = var.name }
    output "name" { value = terraform_data.shared.output }`,
  "modules/shared/notes with spaces.txt": "kept",
  ".well-known/svc.json": `{"apiVersion":"v1alpha1"}`
}

describe.skipIf(Bun.which("terraform") === null)("Exported Capsules", () => {
  tests.live(
    "an exported module plans no changes once the secret inputs are supplied, even after its release",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const variables = { region: "east", size: { cpu: 4, tags: ["a", "b"] }, password }
        const { capsule } = yield* active("exported-web", siblings, {
          variables,
          options: { modulePath: RelativePath.make("apps/web") }
        })
        const taken = yield* unpacked(capsule.id)
        expect(taken.answer).toMatchObject({
          inputsToSupply: ["password"],
          fileName: `svc-export-${capsule.slug}.tar.gz`
        })
        expect(taken.files).toEqual([
          "README.md",
          "module/apps/web/main.tf",
          "module/apps/web/terraform.tfstate",
          "module/apps/web/terraform.tfvars.json",
          "module/apps/web/~export_override.tf.json",
          "module/modules/shared/main.tf",
          "module/modules/shared/notes with spaces.txt"
        ])
        for (const entry of taken.entries) expect(entry).toMatch(/^-rw-(?:r--r--|------) 0\/0 /)
        expect(JSON.parse(yield* taken.read("module/apps/web/terraform.tfvars.json"))).toEqual({
          region: "east",
          size: { cpu: 4, tags: ["a", "b"] }
        })
        expect(yield* taken.read("module/apps/web/terraform.tfstate")).toContain(password)
        for (const name of taken.files.filter((file) => !file.endsWith(".tfstate")))
          expect(yield* taken.read(name)).not.toContain(password)
        const readme = yield* taken.read("README.md")
        for (const words of [
          "cd module/apps/web",
          "terraform init",
          "tofu init",
          "export TF_VAR_password=...",
          "1.11.4"
        ])
          expect(readme).toContain(words)
        expect(readme).toContain("svc still manages this infrastructure")

        const folder = `${taken.root}/module/apps/web`
        expect(yield* barePlan(folder, { password })).toMatchObject({ code: 0 })
        expect((yield* barePlan(folder, { password: "another" })).code).toBe(2)
        expect((yield* barePlan(folder)).code).toBe(1)

        yield* capsules.Release(capsule.id, { context, request: { confirm: capsule.name, reason: "moved_elsewhere" } })
        expect(yield* barePlan(folder, { password })).toMatchObject({ code: 0 })
        // The Capsule can still be exported after its release.
        const late = yield* unpacked(capsule.id)
        expect(yield* late.read("README.md")).toContain("The Capsule was released")
        expect(yield* barePlan(`${late.root}/module/apps/web`, { password })).toMatchObject({ code: 0 })
      }),
    180_000
  )

  tests.live(
    "exported inputs contain other Capsules' Outputs unless they are sensitive",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const producer = yield* active("exported-producer", {
          "main.tf": `
            resource "terraform_data" "network" { input = "net-1" }
            output "network" { value = terraform_data.network.output }
            output "key" {
              value     = "export-key-9c1f"
              sensitive = true
            }`
        })
        const { capsuleId } = yield* planned("exported-consumer", {
          "main.tf": `
              variable "network" { default = "none" }
              variable "key" { default = "none" }
              resource "terraform_data" "site" { input = [var.network, var.key] }`
        })
        yield* (yield* Dependencies).create(context, capsuleId, {
          producerCapsuleId: producer.capsule.id,
          mode: "published_output",
          outputs: [{ from: "network", to: "network", required: true }]
        })
        yield* (yield* Dependencies).create(context, capsuleId, {
          producerCapsuleId: producer.capsule.id,
          mode: "variable_injection",
          outputs: [{ from: "key", to: "key", required: true }]
        })
        expect((yield* applied(yield* replanned(capsuleId))).status).toBe("succeeded")
        const taken = yield* unpacked(capsuleId)
        expect(taken.answer.inputsToSupply).toEqual(["key"])
        expect(JSON.parse(yield* taken.read("module/terraform.tfvars.json"))).toEqual({ network: "net-1" })
        expect(yield* taken.read("README.md")).not.toContain("export-key-9c1f")
        expect(yield* barePlan(`${taken.root}/module`, { key: "export-key-9c1f" })).toMatchObject({ code: 0 })
      }),
    180_000
  )

  tests.live(
    "an export contains the output of the last apply's source build",
    () =>
      Effect.gen(function* () {
        const { capsuleId, plan } = yield* planned(
          "exported-build",
          {
            "words.txt": "built ",
            "main.tf": `resource "terraform_data" "a" { input = file("\${path.module}/out/made.txt") }`
          },
          {
            initialConfiguration: {
              sourceBuild: {
                commands: [
                  { argv: ["sh", "-c", "mkdir out && cat words.txt > out/made.txt && date +%N >> out/made.txt"] }
                ],
                outputs: [RelativePath.make("out")]
              }
            }
          }
        )
        expect((yield* applied(plan)).status).toBe("succeeded")
        const taken = yield* unpacked(capsuleId)
        expect(taken.files).toContain("module/out/made.txt")
        expect(yield* taken.read("README.md")).toContain("with what its source build made")
        expect(yield* barePlan(`${taken.root}/module`)).toMatchObject({ code: 0 })
      }),
    180_000
  )

  tests.live(
    "an export locks the provider versions of the last apply, but omits the credentials, which the new maintainer must supply",
    () =>
      Effect.gen(function* () {
        const { context, notesDir, workspaceId } = yield* TestPlane
        const mirror = yield* providerMirror
        const token = "export-provider-token-31c7"
        const connection = yield* (yield* Connections).create(context, {
          workspaceId,
          provider: demo,
          displayName: "demo",
          values: { DEMO_TOKEN: token },
          providerConfig: { dir: notesDir }
        })
        const { capsule } = yield* active(
          "exported-provider",
          { "main.tf": demoModule(note("kept")) },
          { options: { providerBindings: [bound(connection.id)] } }
        )
        const taken = yield* unpacked(capsule.id)
        expect(yield* taken.read("module/.terraform.lock.hcl")).toContain("example.test/acme/demo")
        expect(yield* taken.read("README.md")).toContain("- `example.test/acme/demo` (`demo`): `DEMO_TOKEN`")
        for (const name of taken.files) expect(yield* taken.read(name)).not.toContain(token)
        const folder = `${taken.root}/module`
        // The archive contains all of the provider's arguments except the token, which this test supplies.
        const environment = { ...mirror.environment, DEMO_TOKEN: token }
        expect(yield* barePlan(folder, {}, environment)).toMatchObject({ code: 0 })
      }),
    180_000
  )
})
