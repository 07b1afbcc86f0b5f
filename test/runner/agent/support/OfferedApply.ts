import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Deferred, Effect, Layer, Option, Redacted } from "effect"
import { runOffer } from "../../../../runner/agent/AgentRun.ts"
import { newKeys, sealingKey } from "../../../../runner/agent/AgentKeyPair.ts"
import { AgentParty } from "../../../../runner/agent/AgentParty.ts"
import { sealedFor, serverParty } from "../../../../runner/agent/BlobContents.ts"
import { Guard } from "../../../../runner/agent/guard/Guard.ts"
import { JobFiles } from "../../../../runner/agent/JobFiles.ts"
import { machineClocks, makeLease, momentOf } from "../../../../runner/agent/LeaseClock.ts"
import { makeHandle } from "../../../../runner/agent/RunHandle.ts"
import { makeRoom } from "../../../../runner/agent/AgentRunFolder.ts"
import { ServerConnection } from "../../../../runner/agent/ServerConnection.ts"
import { openSpool } from "../../../../runner/agent/Spool.ts"
import { BuildStore } from "../../../../runner/execution/BuildStore.ts"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import { recoverApply } from "../../../../runner/execution/Recovery.ts"
import { removeTree } from "../../../../runner/execution/RunFiles.ts"
import type { ApplyOutcome, UnfinishedApply } from "../../../../runner/execution/RunOutcome.ts"
import type { ApplyJob } from "../../../../runner/execution/RunJob.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import { type JobOffer } from "../../../../schema/agent/AgentJob.ts"
import { AgentId, RunId } from "../../../../schema/records/Ids.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

export const applyClaim = { runId: RunId.make("run_01000000000000000000000001"), fence: 1 }
const leaseSeconds = 3600
const unused = Effect.die(new Error("not a part of an apply"))

/** Creates the agent's half of the encryption, and the server's keys. */
export const sealingParty = Effect.gen(function* () {
  const keys = yield* newKeys
  const installationId = "test"
  const agentId = AgentId.make("agt_01000000000000000000000001")
  const server = serverParty(installationId)
  return AgentParty.of({
    identity: {
      version: 1,
      server: "http://localhost",
      serverKeys: keys.public,
      installationId,
      agentId,
      pool: PoolName.make("far")
    },
    opening: Effect.succeed([]),
    open: () => unused,
    serverKey: yield* sealingKey(keys.public.seal),
    isOffered: () => Effect.succeed(true),
    received: (of, kind) => sealedFor({ from: server, to: agentId }, of, kind),
    sent: (of, kind) => sealedFor({ from: agentId, to: server }, of, kind)
  })
})

/** Returns a connection to a server that accepts every message. Calls `say` with each message. */
export const takingLine = (say: (what: string) => Effect.Effect<void>) =>
  ServerConnection.of({
    accept: () => say("accept"),
    start: () => say("start"),
    report: (_, { number }) => Effect.succeed(number),
    checkpoint: () => say("checkpoint"),
    result: () => say("result"),
    handIn: () => say("left_over"),
    fetch: () => unused
  })

export const job: ApplyJob = {
  runId: applyClaim.runId,
  module: { snapshotDigest: `sha256:${"0".repeat(64)}`, path: "." },
  localModules: [],
  tool: { name: "opentofu", version: "1.10.0" },
  credentials: [],
  planFile: Redacted.make(new Uint8Array(0)),
  planDigest: `sha256:${"0".repeat(64)}`,
  secrets: { inputs: [], credentials: [], marked: [] }
}

export const offer: JobOffer = {
  ...applyClaim,
  kind: "apply",
  leaseSeconds,
  sealedJob: "",
  snapshot: job.module.snapshotDigest,
  signature: ""
}

/** Returns the outcome of an apply whose tool could only print this state. */
export const printedState = (state: Uint8Array): ApplyOutcome => ({
  tool: job.tool,
  sandboxLevel: "process",
  envNames: [],
  diagnostics: [],
  state: Redacted.make(state),
  exit: "cancelled",
  outputs: [],
  changedAnything: true,
  possiblyCreated: [],
  sandboxKilled: false
})

/**
 * Prepares an apply that is offered to an agent. `tool` is the program it runs, `sent` lists the kinds of messages sent to
 * the server, and `recovered` lists the files found in the run folder.
 */
export const offeredApply = Effect.fnUntraced(function* (tool: ModuleRunner["Service"]["apply"]) {
  const runs = yield* temporaryFolder
  const room = yield* makeRoom(runs, applyClaim, "apply")
  if (room === undefined) return yield* Effect.die(new Error("no room"))
  const spool = yield* openSpool(room.spool)
  const lease = makeLease(machineClocks, momentOf(machineClocks), leaseSeconds)
  const handle = yield* makeHandle({ room, spool, lease, stage: "accepted" })
  const sent: Array<string> = []
  const recovered: Array<UnfinishedApply> = []
  const say = (what: string) => Effect.sync(() => void sent.push(what))
  const services = Layer.mergeAll(
    NodeServices.layer,
    Layer.effect(AgentParty, sealingParty),
    Layer.succeed(ServerConnection, takingLine(say)),
    Layer.succeed(Guard, Guard.of({ hold: () => Effect.void, move: () => Effect.void, release: () => Effect.void })),
    Layer.succeed(
      JobFiles,
      JobFiles.of({ provide: () => Effect.void, secret: () => Effect.succeed(new Uint8Array(0)) })
    ),
    Layer.succeed(BuildStore, BuildStore.of({ adopt: () => unused, find: () => unused, cleanUp: () => unused })),
    Layer.succeed(
      ModuleRunner,
      ModuleRunner.of({
        confinement: () => unused,
        plan: () => unused,
        apply: tool,
        driftCheck: () => unused,
        recover: (runFolder) =>
          Effect.tap(recoverApply(runFolder), (left) =>
            Effect.sync(() => void recovered.push(...Option.toArray(left)))
          ),
        withhold: () => unused,
        discard: (runFolder) => removeTree(runFolder, "remove the run folder")
      })
    )
  )
  const run = Effect.provide(runOffer(handle, lease, offer, { kind: "apply", job, keys: [] }), services)
  const end = Deferred.succeed(handle.ended, "hand_in" as const)
  return { end, folder: join(room.runFolder, ".."), handle, recovered, run, sent }
})
