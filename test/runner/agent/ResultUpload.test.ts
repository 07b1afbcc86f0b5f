import { randomBytes } from "node:crypto"
import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { sealedContents } from "../../../runner/agent/ResultUpload.ts"
import { AgentParty } from "../../../runner/agent/AgentParty.ts"
import { sendState } from "../../../runner/agent/RunDelivery.ts"
import { makeRoom } from "../../../runner/agent/AgentRunFolder.ts"
import type { SentFile } from "../../../runner/agent/SealedFile.ts"
import { ServerConnection } from "../../../runner/agent/ServerConnection.ts"
import { sha256OfFile } from "../../../runner/execution/Digest.ts"
import { mostInlineBytes } from "../../../schema/agent/InlineFile.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { applyClaim, sealingParty, takingLine } from "./support/OfferedApply.ts"

/** Returns a state that is too large for a message. */
const large = () => new Uint8Array(randomBytes(2 * mostInlineBytes))

describe("Result uploads", () => {
  it.live("uploading a large state during the Run does not change the state in the Run's result", () =>
    Effect.gen(function* () {
      const room = yield* makeRoom(yield* temporaryFolder, applyClaim, "apply")
      if (room === undefined) return yield* Effect.die(new Error("no room"))
      const sent: Array<SentFile> = []
      const line = ServerConnection.of({
        ...takingLine(() => Effect.void),
        checkpoint: (_, { file }) => Effect.sync(() => void sent.push(file))
      })
      yield* Effect.gen(function* () {
        const ofResult = yield* sealedContents(room, "state", large())
        yield* sendState(room, { serial: 1, resourceCount: 1, state: Redacted.make(large()) })
        for (const { bytes, digest, path } of [ofResult, ...sent]) {
          expect(bytes).toBeUndefined()
          expect(yield* sha256OfFile(path, "read a sealed file")).toBe(digest)
        }
        expect(sent).toMatchObject([{ kind: "state" }])
      }).pipe(Effect.provideService(AgentParty, yield* sealingParty), Effect.provideService(ServerConnection, line))
    })
  )
})
