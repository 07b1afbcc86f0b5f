import { expect, test } from "bun:test"
import { Effect, Result } from "effect"
import { checkInputs } from "../../../../actors/ledger/dependency/DependencyRules.ts"
import type { NewDependency } from "../../../../schema/records/Capsule.ts"
import { CapsuleId } from "../../../../schema/records/Ids.ts"
import { declared } from "../../support/DeclaredVariables.ts"

const inputs = [declared("region"), declared("zone"), declared("name", "string", "capsule_name")]

const checked = (taken: Set<string>, ...names: ReadonlyArray<string>) => {
  const request: NewDependency = {
    producerCapsuleId: CapsuleId.make("cap_00000000000000000000000a"),
    mode: "variable_injection",
    outputs: names.map((to) => ({ from: "x", to, required: true }))
  }
  const outcome = Effect.runSync(Effect.result(checkInputs("", inputs, taken, request)))
  return Result.isFailure(outcome) ? [outcome.failure.code, outcome.failure.message] : [...taken]
}

test("dependencies can fill only inputs that the module declares, and each input at most once", () => {
  expect(checked(new Set(), "region", "zone")).toEqual(["region", "zone"])
  expect(checked(new Set(["zone"]), "region")).toEqual(["zone", "region"])
})

test.each([
  ["an input that the module does not have", "missing", new Set<string>(), "invalid_request", "no such input"],
  ["an input that the service fills", "name", new Set<string>(), "invalid_request", "fills this input itself"],
  ["an input that another dependency fills", "zone", new Set(["zone"]), "failed_precondition", "already"]
])("a dependency on %s is refused with its position", (_name, to, taken, code, words) => {
  const [found, message] = checked(taken, "region", to)
  expect(found).toBe(code)
  expect(message).toStartWith("outputs[1].to: ")
  expect(message).toContain(words)
})

test("a dependency cannot fill the same input twice", () => {
  expect(checked(new Set(), "region", "region")[0]).toBe("failed_precondition")
})
