import { expect, test } from "bun:test"
import { chosenDefault, fetchStarter } from "../../../../actors/inputs/git/GitConnectionUse.ts"
import { Subject } from "../../../../schema/records/Ids.ts"

const ada = Subject.make("usr_00000000000000000000000a")
const grace = Subject.make("usr_00000000000000000000000b")

test("a default ref satisfies a rule if an owner or admin chose it, or if the repository declares it", () => {
  expect(chosenDefault(undefined)).toEqual(["HEAD"])
  expect(chosenDefault({ default_ref: "release", default_ref_by_manager: 1 })).toEqual(["release"])
  expect(chosenDefault({ default_ref: "release", default_ref_by_manager: 0 })).toEqual([])
})

test("a fetch by a person uses the authority of that person, and an automatic fetch uses the authority of the person who attached the Connection", () => {
  const source = { auth_connection_by: grace }
  expect(fetchStarter({ created_by: ada, trigger_kind: "user" }, source)).toEqual({ subject: ada, automatic: false })
  for (const trigger_kind of ["schedule", "webhook"] as const) {
    expect(fetchStarter({ created_by: ada, trigger_kind }, source)).toEqual({ subject: grace, automatic: true })
    expect(fetchStarter({ created_by: ada, trigger_kind }, undefined)).toEqual({ subject: undefined, automatic: true })
  }
})
