import { expect, test } from "bun:test"
import { exportReadme, type ReadmeFacts } from "../../../../actors/commands/capsule-export/ExportReadme.ts"

const facts: ReadmeFacts = {
  capsule: "shop",
  isReleased: false,
  folder: "module",
  source: { url: "https://git.example.test/shop.git", ref: "refs/heads/main", commit: "1".repeat(40) },
  tool: { name: "opentofu", version: "1.9.0" },
  isPartial: false,
  hasInputs: true,
  toSupply: [],
  providers: [],
  hasLock: true,
  hasOverride: false,
  hasBuild: false,
  omitted: []
}

test("an export's README contains the commands for the tool that wrote the state and for the alternative tool", () => {
  const opentofu = exportReadme(facts)
  expect(opentofu).toContain("last written by OpenTofu 1.9.0")
  expect(opentofu.indexOf("tofu init")).toBeLessThan(opentofu.indexOf("terraform init"))
  const terraform = exportReadme({ ...facts, tool: { name: "terraform", version: undefined } })
  expect(terraform).toContain("last written by Terraform.")
  expect(terraform.indexOf("terraform init")).toBeLessThan(terraform.indexOf("tofu init"))
  expect(exportReadme({ ...facts, folder: "module/it's here" })).toContain("cd 'module/it'\\''s here'")
})

test("an export's README lists each value that must be supplied, with the reason", () => {
  const text = exportReadme({
    ...facts,
    toSupply: [
      { name: "password", reason: "secret" },
      { name: "session_key", reason: "generated" },
      { name: "network", reason: "missing" }
    ],
    providers: [
      { provider: "example.test/acme/demo", name: "demo.east", environment: ["DEMO_TOKEN"], files: ["key.json"] }
    ]
  })
  for (const words of [
    "- `password` (secret)",
    "- `session_key` (secret; svc made it",
    "- `network` (svc has no value for it any more)",
    "export TF_VAR_session_key=...",
    "- `example.test/acme/demo` (`demo.east`): `DEMO_TOKEN`, the file `key.json`"
  ])
    expect(text).toContain(words)
  expect(exportReadme(facts)).toContain("needs no input besides")
})

test("an export's README explains who manages the infrastructure and lists the differences from the commit", () => {
  expect(exportReadme(facts)).toContain("svc still manages this infrastructure")
  expect(exportReadme({ ...facts, isReleased: true })).not.toContain("svc still manages")
  expect(exportReadme({ ...facts, isPartial: true })).toContain("The last apply did not finish")
  const text = exportReadme({ ...facts, hasOverride: true, hasBuild: true, hasLock: false, omitted: ["docs/link"] })
  for (const words of ["~export_override.tf.json", "with what its source build made", "`docs/link`"])
    expect(text).toContain(words)
  expect(text).not.toContain(".terraform.lock.hcl")
})
