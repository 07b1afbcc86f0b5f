import { expect, test } from "bun:test"
import { moduleMismatch } from "../../../../actors/commands/adoption/ModuleMismatch.ts"
import { objectKey } from "../../../../actors/ledger/state/StateEntries.ts"
import { stateToolProblem } from "../../../../runner/execution/StateFit.ts"

const builtin = "terraform.io/builtin/terraform"
const object = (address: string, provider = builtin) => ({ address, id: "one", type: "terraform_data", provider })
const scan = {
  providerPackages: [{ source: "acme/demo", versionConstraints: [] }],
  addresses: { declared: ["terraform_data.one", "demo_note.a"], moved: [], removed: ["terraform_data.dropped"] }
}
type Given = Parameters<typeof moduleMismatch>
const findings = (given: Given[0], managed: Given[1], confirmed: Given[2]) =>
  moduleMismatch(given, managed, confirmed, (address) => address)
const codes = (...given: Parameters<typeof findings>) => findings(...given).map(({ code }) => code)

test("a state fits a module that declares all of its providers and addresses", () => {
  const fitting = [
    object("terraform_data.one[0]"),
    object("terraform_data.dropped"),
    object("demo_note.a", "acme/demo")
  ]
  expect(findings(scan, fitting, [])).toEqual([])
  expect(codes(scan, [...fitting, object("demo_note.a", "acme/other")], [])).toEqual(["state_provider_unknown"])
  expect(codes(scan, [...fitting, object("terraform_data.two")], [])).toEqual(["state_address_undeclared"])
  // A confirmation covers only the exact address that the person typed.
  expect(codes(scan, [object("terraform_data.two[1]")], ["terraform_data.two"])).toEqual(["state_address_undeclared"])
  expect(codes(scan, [object("terraform_data.two[1]")], ["terraform_data.two[1]"])).toEqual([])
  const many = Array.from({ length: 130 }, (_, at) => object(`terraform_data.more_${at}`))
  expect(findings(scan, many, [])[0]?.message).toContain("terraform_data.more_99 and 30 more.")
})

test("a state cannot be checked against a module report without addresses", () => {
  expect(codes({ providerPackages: [] }, [], [])).toEqual(["state_check_outdated"])
})

test("objects are identified by provider, type and id, and an object with an incomplete value has no key", () => {
  const vpc = { provider: "hashicorp/aws", type: "aws_vpc", id: "vpc-1" }
  expect(objectKey(vpc)).toBe(objectKey({ ...vpc }))
  for (const other of [{ provider: "acme/aws" }, { type: "aws_subnet" }, { id: "vpc-2" }]) {
    expect(objectKey({ ...vpc, ...other })).not.toBe(objectKey(vpc))
  }
  expect(objectKey({ ...vpc, id: undefined })).toBeUndefined()
  expect(objectKey({ ...vpc, id: "" })).toBeUndefined()
  expect(objectKey({ provider: "hashicorp/random", type: "random_password", id: "none" })).toBeUndefined()
  expect(objectKey({ provider: builtin, type: "terraform_data", id: "0" })).toBeUndefined()
})

test("a state needs a tool at least as new as the tool that wrote it", () => {
  const tool = { name: "opentofu", version: "1.10.2" } as const
  for (const older of ["1.10.2", "1.9.12", "1.10.2-rc1", "0.15.5", undefined, "unreadable"]) {
    expect([older, stateToolProblem(older, tool)]).toEqual([older, undefined])
  }
  for (const newer of ["1.10.3", "1.11.0-beta1", "2.0.0"]) {
    expect(stateToolProblem(newer, tool)).toContain(`Version ${newer} of the tool wrote the state`)
    expect(stateToolProblem(newer, tool)).toContain("OpenTofu 1.10.2")
  }
})
