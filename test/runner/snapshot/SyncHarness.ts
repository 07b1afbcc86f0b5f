import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Result } from "effect"
import type { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { type GitLimits, GitPolicy, type GitPolicyShape } from "../../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../../schema/git/GitRef.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { InstalledGit } from "../../../runner/git/InstalledGit.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { SnapshotSync } from "../../../runner/snapshot/SnapshotSync.ts"
import { syncsInProcesses } from "../../support/SyncProgram.ts"

export interface SyncSettings {
  readonly origin: string
  readonly folder: string
  readonly native?: GitPolicyShape["native"]
  readonly limits?: Partial<GitLimits>
}

/** SnapshotSync and SnapshotStore, wired as in the service and with its processes. One loopback origin is allowed. */
export const syncLayer = (settings: SyncSettings) =>
  SnapshotSync.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(GitRemote.layer, InstalledGit.layer, SnapshotStore.layer({ folder: settings.folder }))
    ),
    Layer.provideMerge(
      GitPolicy.layerWith({
        allowOrigins: [settings.origin],
        native: settings.native ?? "off",
        limits: settings.limits ?? {}
      })
    ),
    Layer.provideMerge(Layer.merge(NodeServices.layer, syncsInProcesses))
  )

export interface SyncCall {
  readonly url: string
  readonly ref?: string
  readonly path?: string
  readonly expectedCommit?: string
  readonly credentials?: GitCredentials
  readonly onProgress?: (line: string) => Effect.Effect<void>
}

/** Calls SnapshotSync as an actor would, with values that a user entered. */
export const syncOnce = Effect.fnUntraced(function* (call: SyncCall) {
  const policy = yield* GitPolicy
  const snapshots = yield* SnapshotSync
  const url = Result.getOrThrow(fetchableAddress(call.url, policy))
  const ref = Result.getOrThrow(parseGitRef(call.ref ?? "HEAD"))
  return yield* snapshots.sync({ ...call, url, ref, path: call.path ?? "." })
})
