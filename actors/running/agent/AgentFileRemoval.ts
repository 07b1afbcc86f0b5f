import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { retention, RetentionPolicy } from "../../../schema/records/Retention.ts"
import { makeCooldown } from "../../base/Cooldown.ts"
import { AgentBlobs } from "./AgentBlobs.ts"
import { AgentRunRow } from "./AgentRunRow.ts"
import { InlineBlobs } from "./InlineBlobs.ts"
import { SharedBlobs } from "./SharedBlobs.ts"

/** Time between two passes over the folders. */
const cooldown = Duration.toMillis("1 hour")

/**
 * The time for which the files of an abandoned apply must remain unchanged before they are removed. Agents may submit files
 * late, and over a slow connection one file may take hours.
 */
const underWay = Duration.toMillis("1 day")

/**
 * Removes the files of abandoned applies after their retention period. The files are evidence; a left-over state created from
 * them is stored separately and kept.
 */
export class AgentFileRemoval extends Context.Service<
  AgentFileRemoval,
  { readonly removeSome: Effect.Effect<void>; readonly removeAll: Effect.Effect<void> }
>()("svc/actors/running/agent/AgentFileRemoval") {
  static readonly layer = Layer.effect(
    AgentFileRemoval,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* AgentBlobs
      const inline = yield* InlineBlobs
      const shared = yield* SharedBlobs
      const { agentFiles = retention.agentFile.after } = yield* RetentionPolicy

      const removeAll = Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        const before = new Date(at - Duration.toMillis(agentFiles)).toISOString()
        for (const claim of yield* blobs.claims) {
          if (at - (yield* blobs.receivedAt(claim)) < underWay) continue
          const [row] = yield* Effect.orDie(
            AgentRunRow.some(sql, "ended_at")`SELECT ended_at FROM agent_runs
              WHERE run_id = ${claim.runId} AND fence = ${claim.fence}`
          )
          // If the claim is unknown, retention has already removed its Run.
          const isOver = row === undefined || (row.ended_at !== null && row.ended_at < before)
          if (isOver) yield* blobs.removeAll(claim)
        }
        yield* inline.removeEnded(before)
        yield* shared.removeEnded(before)
      }).pipe(Effect.withSpan("AgentFileRemoval.removeAll"))

      const afterCooldown = makeCooldown(cooldown)
      return AgentFileRemoval.of({ removeSome: afterCooldown(Effect.as(removeAll, true)), removeAll })
    })
  )
}
