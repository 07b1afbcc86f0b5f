import { afterAll, describe, expect, test } from "bun:test"
import { Effect, Schema } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PlanDocument } from "../../../../runner/execution/PlanDocument.ts"
import { derivedSecrets } from "../../../../runner/execution/RunSession.ts"
import { planSensitiveTexts, projectPlan } from "../../../../runner/execution/PlanProjection.ts"
import { Redactor } from "../../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../../support/DirectRedactor.ts"
import type { PlanDetails } from "../../../../schema/records/PlanDetails.ts"
import { planJson } from "../../../../src/cli/remote/PlanJson.ts"

const tool = Bun.which("terraform")
const isIncomplete = tool === null && process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

const folder = mkdtempSync(join(tmpdir(), "svc-plan-json-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...args: ReadonlyArray<string>) => {
  const ended = Bun.spawnSync([tool ?? "", ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, CHECKPOINT_DISABLE: "1", TF_CLI_CONFIG_FILE: "/dev/null" }
  })
  expect([args, ended.exitCode, ended.exitCode === 0 ? "" : ended.stderr.toString()]).toEqual([args, 0, ""])
  return ended.stdout.toString()
}

const moduleAt = (size: number) => `
variable "password" {
  type      = string
  sensitive = true
  default   = "canary-of-the-plan"
}
resource "terraform_data" "many" {
  for_each = toset(["a.b", "c[0]"])
  input    = { size = ${size}, name = each.key }
}
resource "terraform_data" "counted" {
  count            = 2
  input            = "x"
  triggers_replace = ${size}
  lifecycle {
    postcondition {
      condition     = self.input != "y"
      error_message = "never"
    }
  }
}
resource "terraform_data" "secret" {
  input = [var.password, "${size}"]
}
module "inner" {
  source   = "./inner"
  for_each = toset(["k.terraform_data.b"])
  size     = ${size}
}
check "health" {
  assert {
    condition     = length(terraform_data.counted) > 5
    error_message = "Only ${"${length(terraform_data.counted)}"}."
  }
}
output "size" {
  value = ${size}
}
output "secret" {
  value     = var.password
  sensitive = true
}
${size === 1 ? 'resource "terraform_data" "gone" {}' : ""}
`

const inner = `
variable "size" {}
resource "terraform_data" "b" {
  input = var.size
}
`

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(PlanDocument))

/** Returns the tool's document for a plan, and svc's document built from the data that reviewers see. */
const documents = (size: number) => {
  mkdirSync(join(folder, "inner"), { recursive: true })
  writeFileSync(join(folder, "inner/main.tf"), inner)
  writeFileSync(join(folder, "main.tf"), moduleAt(size))
  run("init", "-input=false")
  run("plan", "-input=false", "-out=plan")
  const text = run("show", "-json", "plan")
  const document = decode(text)
  // Redacts values as a Run does: hides every value that the plan marks as sensitive, wherever the value occurs.
  const redactor = new Redactor(derivedSecrets("plan", planSensitiveTexts(document)))
  const projection = Effect.runSync(projectPlan(document, directRedactor(redactor)))
  const details: PlanDetails = projection
  return {
    theirs: JSON.parse(text),
    ours: JSON.parse(JSON.stringify(planJson({ ...details, tool: { name: "terraform", version: "1" } })))
  }
}

type Change = {
  readonly address: string
  readonly change: Record<string, unknown> & {
    readonly actions: ReadonlyArray<string>
    readonly before: Record<string, unknown> | null
    readonly after: Record<string, unknown> | null
    readonly before_sensitive: unknown
    readonly after_sensitive: unknown
  }
}

const byAddress = (changes: ReadonlyArray<Change>) =>
  new Map(changes.filter(({ change }) => !change.actions.includes("no-op")).map((one) => [one.address, one]))

/** Keeps only the members that exist in both documents. */
const common = (theirs: Record<string, unknown> | null, ours: Record<string, unknown> | null) =>
  theirs === null || ours === null
    ? theirs
    : Object.fromEntries(Object.entries(theirs).filter(([name]) => Object.hasOwn(ours, name)))

/** Removes empty members from the tool's sensitivity marks. */
const withMarks = (marks: unknown) =>
  Object.fromEntries(Object.entries(marks ?? {}).filter(([, mark]) => JSON.stringify(mark) !== "{}"))

describe.skipIf(isIncomplete)("svc run get --plan-json", () => {
  test("svc run get --plan-json prints the tool's document with the data that reviewers see, without secrets", () => {
    const created = documents(1)
    run("apply", "-input=false", "plan")
    const changed = documents(2)
    for (const { ours, theirs } of [created, changed]) {
      expect(Object.keys(ours)).toEqual([
        "format_version",
        "terraform_version",
        "resource_changes",
        "output_changes",
        "resource_drift",
        "checks"
      ])
      expect(ours.format_version).toBe(theirs.format_version)
      const [real, shown] = [byAddress(theirs.resource_changes), byAddress(ours.resource_changes)]
      expect([...shown.keys()].toSorted()).toEqual([...real.keys()].toSorted())
      expect(shown.size).toBeGreaterThan(5)
      for (const [address, { change, ...rest }] of shown) {
        const { change: expected, ...others } = real.get(address) ?? { change: undefined }
        expect<unknown>(rest).toEqual(others)
        if (expected === undefined || address === "terraform_data.secret") continue
        expect([address, change.actions]).toEqual([address, expected.actions])
        for (const side of ["before", "after"] as const) {
          expect([address, side, change[side]]).toEqual([address, side, common(expected[side], change[side])])
        }
        expect([address, change["after_unknown"]]).toEqual([address, withMarks(expected["after_unknown"])])
        expect([address, change["replace_paths"]]).toEqual([address, expected["replace_paths"]])
      }
      expect(ours.output_changes.size).toEqual(theirs.output_changes.size)
      expect(JSON.stringify([ours])).not.toContain("canary")
      expect(JSON.stringify([theirs])).toContain("canary")
      // svc's document contains only the text of an address, so the test compares the text instead of the parts.
      const plain = theirs.checks.map(
        (one: {
          readonly address: { readonly kind: string; readonly to_display: string }
          readonly instances: ReadonlyArray<{ readonly address: { readonly to_display: string } }>
        }) => ({
          ...one,
          address: { kind: one.address.kind, to_display: one.address.to_display },
          instances: one.instances.map((instance) => ({
            ...instance,
            address: { to_display: instance.address.to_display }
          }))
        })
      )
      expect(ours.checks).toEqual(plain)
      expect(JSON.stringify(ours.checks)).toContain("Only 2.")
    }
    const secret = byAddress(changed.ours.resource_changes).get("terraform_data.secret")?.change
    expect(secret?.before).toEqual({ input: ["(sensitive value)", "1"], output: [expect.any(String), "1"] })
  })
})
