import { expect, test } from "bun:test"
import { droppedAssistance } from "../../../../actors/commands/install-plan/ManifestWarnings.ts"
import type { CompiledInstall } from "../../../../schema/manifest/CompiledInstall.ts"

type Compiled = Parameters<typeof droppedAssistance>[0]

const compiled: Compiled = {
  assistance: "rejected",
  dropped: ["inputs", "features"],
  diagnostics: [
    { path: "", code: "invalid_value", message: "All of it." },
    { path: "/install/modules", code: "unknown_field", message: "Not this." }
  ]
}

test("an install warns that it ignores the features of a rejected manifest, and lists every reason for the rejection", () => {
  const findings = droppedAssistance(compiled)
  expect(findings.map(({ code, severity }) => [severity, code])).toEqual([
    ["warning", "manifest_assistance_dropped"],
    ["warning", "invalid_value"],
    ["warning", "unknown_field"]
  ])
  expect(findings[0]?.message).toEndWith("without: inputs, features.")
  expect(findings.slice(1).map(({ message }) => message)).toEqual(["All of it.", "/install/modules: Not this."])
})

test("an install uses nothing from an invalid manifest. If the list of ignored names is long, the install shortens it and shows how many names it omits", () => {
  expect(droppedAssistance({ ...compiled, assistance: "invalid" })[0]?.message).toContain("nothing of it is used")
  const dropped = Array.from({ length: 21 }, (_, index) => `n${index}`)
  expect(droppedAssistance({ ...compiled, dropped })[0]?.message).toEndWith("n19 and 1 more.")
})

test("a manifest causes no warnings if it is valid, is absent, or does not mention the module", () => {
  const others: ReadonlyArray<CompiledInstall["assistance"]> = ["adopted", "absent", "not_declared"]
  expect(others.flatMap((assistance) => droppedAssistance({ ...compiled, assistance }))).toEqual([])
})
