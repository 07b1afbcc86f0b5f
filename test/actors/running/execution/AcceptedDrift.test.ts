import { describe, expect, test } from "bun:test"
import { acceptanceRefusal } from "../../../../actors/running/execution/AcceptedDrift.ts"
import { InstallConfigId } from "../../../../schema/records/Ids.ts"
import { namedSnapshot } from "../../../support/NamedIds.ts"

const applied = InstallConfigId.make("icfg_aaaaaaaaaaaaaaaaaaaaaaaa")
const newer = InstallConfigId.make("icfg_bbbbbbbbbbbbbbbbbbbbbbbb")
const capsule = { adopted_snapshot_id: namedSnapshot("applied"), install_config_id: applied }
const base = { install_config_id: applied, partial: 0 } as const

describe("Accepting drift", () => {
  test("drift can be accepted only for a complete state of the Capsule's current configuration", () => {
    expect(acceptanceRefusal(capsule, base)).toBeUndefined()
  })

  test.each([
    ["nothing was applied", capsule, undefined, "never applied"],
    ["its state was taken over and not applied yet", { ...capsule, adopted_snapshot_id: null }, base, "never applied"],
    ["the last apply did not finish", capsule, { ...base, partial: 1 } as const, "did not finish"],
    [
      "its configuration was changed and not applied yet",
      { ...capsule, install_config_id: newer },
      base,
      "configuration has changed"
    ]
  ] as const)("accepting drift is refused if %s", (_, of, state, reason) => {
    expect(acceptanceRefusal(of, state)).toContain(reason)
  })
})
