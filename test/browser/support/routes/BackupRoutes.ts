import { storefrontId } from "../records/Capsules.ts"
import { ago, commit, digest } from "../records/Seeds.ts"
import { type Answer, type Asked, missing, ok, textField } from "./Answer.ts"
import { type World, addRun } from "./World.ts"

/** Responds with a backup file, and with the Run that reviews its restore. */
export const backupFileRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  const backup = world.backups.find((each) => each.id === id)
  if (backup === undefined) return missing
  if (action === "archive") {
    return ok({
      format: "svc.sealed-backup/v1",
      masterKeyIds: ["mk_1"],
      backup,
      capsules: [],
      dataKeys: [],
      archive: "v1.sealed"
    })
  }
  const run = addRun(world, {
    type: "restore",
    status: "waiting_approval",
    capsuleId: backup.capsuleId ?? textField(asked.body, "capsuleId") ?? storefrontId,
    requiresApproval: true,
    planDigest: digest(71),
    restore: {
      backupId: id,
      backupCreatedAt: backup.createdAt,
      current: { stateVersionId: "sv_0000000000000003", generation: 3, serial: 6, resourceCount: 23 },
      restored: { stateVersionId: "sv_0000000000000001", generation: 1, serial: 2, resourceCount: 21 },
      next: { generation: 4, serial: 7, executionAuthorityEpoch: 2 },
      configuration: [
        { kind: "input", name: "region", change: "changed" },
        { kind: "output", name: "cdn_url", change: "removed" }
      ],
      pointers: [{ name: "resolvedCommit", current: commit(40), restored: commit(38) }]
    },
    expiresAt: ago(-7 * 24 * 60)
  })
  return ok({ run }, 201)
}
