import { Effect } from "effect"
import type { CapsuleId } from "../../schema/records/Ids.ts"
import { Broken, holds } from "./CrashClient.ts"
import { approve, isExcused, startApply, type Traveller } from "./Traveller.ts"

const mostAttempts = 4

/** Reviews, approves and restores a backup of the Capsule. Repeats a review that a crash interrupted. */
export const restoreJourney = Effect.fn("restoreJourney")(function* (traveller: Traveller, capsuleId: CapsuleId) {
  const { acknowledged, client } = traveller
  const { backup } = yield* client.call(({ capsules }) => capsules.backup({ params: { capsuleId }, payload: {} }))
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const { run: asked } = yield* client.call(({ backups }) =>
      backups.restorePlan({
        params: { backupId: backup.id },
        headers: { "idempotency-key": `restore-${attempt}` },
        payload: {}
      })
    )
    acknowledged.runs.add(asked.id)
    const review = yield* client.settled(asked.id)
    if (review.status !== "waiting_approval") {
      yield* holds(
        isExcused(traveller, review.error?.code),
        `The review ended as ${review.status}: ${JSON.stringify(review.error)}`
      )
      continue
    }
    yield* approve(traveller, review)
    const restore = yield* client.settled(yield* startApply(traveller, review))
    yield* holds(
      restore.status === "succeeded",
      `The restore ended as ${restore.status}: ${JSON.stringify(restore.error)}`
    )
    const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
    return yield* holds(
      capsule.currentStateVersionId === restore.stateVersionId && capsule.executionAuthorityEpoch === 2,
      `After the restore the Capsule is at ${capsule.currentStateVersionId}, epoch ${capsule.executionAuthorityEpoch}`
    )
  }
  return yield* new Broken({ message: "No restore came through" })
})
