import { expect, test } from "bun:test"
import { activationDigest, type CapsuleAuthority } from "../../../../actors/access/issuer/CapsuleActivation.ts"
import { capsuleDenial } from "../../../../actors/access/issuer/LiveAuthority.ts"
import { CapsuleStatus } from "../../../../schema/records/Capsule.ts"
import { CapsuleId, InstallConfigId, SourceSnapshotId, WorkspaceId } from "../../../../schema/records/Ids.ts"

const authority: CapsuleAuthority = {
  workspace_id: WorkspaceId.make("ws_00000000000000000000000a"),
  capsule_id: CapsuleId.make("cap_00000000000000000000000a"),
  status: "active",
  execution_authority_epoch: 2,
  install_config_id: InstallConfigId.make("icfg_00000000000000000000000a"),
  install_config_digest: `sha256:${"a".repeat(64)}`,
  source_snapshot_id: SourceSnapshotId.make("snap_00000000000000000000000a"),
  config: "{}"
}
const owner = {
  workspaceId: authority.workspace_id,
  capsuleId: authority.capsule_id,
  activationDigest: activationDigest(authority)
}

test("a Capsule's client is accepted only under its Capsule's current activation", () => {
  expect(capsuleDenial(owner, authority)).toBeUndefined()
  // The digest already covers the compiled configuration, so the `config` column is not compared.
  expect(capsuleDenial(owner, { ...authority, config: "[]" })).toBeUndefined()
})

const stale: ReadonlyArray<Partial<CapsuleAuthority>> = [
  { execution_authority_epoch: 3 },
  { install_config_id: InstallConfigId.make("icfg_00000000000000000000000b") },
  { install_config_digest: `sha256:${"b".repeat(64)}` },
  { source_snapshot_id: null },
  { capsule_id: CapsuleId.make("cap_00000000000000000000000b") },
  { status: "disabled" }
]

test.each(stale.map((different) => [JSON.stringify(different), different] as const))(
  "if the authority differs in %s, a Capsule's client is rejected until the next apply",
  (_shown, different) => {
    expect(capsuleDenial(owner, { ...authority, ...different })).toEqual({ reason: "capsule_stale", lasting: false })
  }
)

test("a client that was never activated is rejected until an apply", () => {
  expect(capsuleDenial({ ...owner, activationDigest: undefined }, authority)?.reason).toBe("capsule_stale")
})

test("a grant is permanently invalid once its Capsule is removed or moved to another Workspace", () => {
  const gone = { reason: "capsule_gone", lasting: true } as const
  expect(capsuleDenial(owner, undefined)).toEqual(gone)
  expect(capsuleDenial({ ...owner, workspaceId: WorkspaceId.make("ws_00000000000000000000000b") }, authority)).toEqual(
    gone
  )
  const ended = CapsuleStatus.literals.filter(
    (status) => capsuleDenial(owner, { ...authority, status })?.lasting === true
  )
  expect(ended).toContain("destroyed")
  expect(ended).not.toContain("error")
})
