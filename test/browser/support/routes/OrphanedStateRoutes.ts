import type { Capsule, OrphanedState } from "../../../../src/dashboard/api/Types.ts"
import { digest } from "../records/Seeds.ts"
import { stateVersions } from "../records/Capsules.ts"
import { type Answer, type Asked, field, missing, ok, refuse, textField } from "./Answer.ts"
import type { World } from "./World.ts"

/** Returns a state that an apply left behind and that svc did not adopt when it settled the apply. */
export const keptState = (of: Pick<OrphanedState, "capsuleId" | "runId" | "workspaceId">): OrphanedState => ({
  ...of,
  id: "lo_0000000000000001",
  createdAt: new Date().toISOString(),
  status: "kept",
  reason: "unreadable",
  digest: digest(90),
  sizeBytes: 18_432,
  lineage: "8c1f0d5a-3a52-4b0e-9c6f-6f2f3f0a7f11",
  serial: 12,
  resourceCount: 9,
  base: { stateGeneration: 3, executionAuthorityEpoch: 1 },
  adoptionProblems: []
})

export const orphanedStateRoute = (world: World, capsule: Capsule, action: string, asked: Asked): Answer => {
  const [, id, adopt] = action.split("/")
  if (id === undefined)
    return ok({ leftOverStates: world.leftOvers.filter(({ capsuleId }) => capsuleId === capsule.id) })
  const index = world.leftOvers.findIndex((each) => each.id === id)
  const found = world.leftOvers[index]
  if (found === undefined) return missing
  const at = new Date().toISOString()
  if (adopt === undefined) {
    const leftOverState = { ...found, status: "discarded", discard: { at } } satisfies OrphanedState
    world.leftOvers[index] = leftOverState
    return ok({ leftOverState })
  }
  const guard = textField(field(asked.body, "expected"), "authorityGuard")
  if (guard !== capsule.installConfigReAdoption.authorityGuard)
    return refuse(409, "guard_conflict", "The Capsule has changed since its guard was read.")
  if (textField(asked.body, "confirm") !== capsule.name)
    return refuse(400, "invalid_request", "confirm: expected the name of the Capsule, exactly as it is written.")
  const stateVersionId = "sv_0000000000000009"
  const leftOverState = { ...found, status: "adopted", adoption: { at, stateVersionId } } satisfies OrphanedState
  world.leftOvers[index] = leftOverState
  return ok({ replayed: false, capsule, stateVersion: { ...stateVersions[0], id: stateVersionId }, leftOverState })
}
