// The redaction thread, modified to fail on certain text.
import { parentPort } from "node:worker_threads"
import * as Redacted from "effect/Redacted"

/** A request that contains this text kills the thread. */
const endsAt = "the-thread-ends-here"
/** The thread rejects a secret that contains this text. */
const refuses = "a-secret-that-fails"

// Registered before the real listener, so that the thread exits without a reply.
parentPort?.on("message", (request: unknown) => {
  if (JSON.stringify(request).includes(endsAt)) process.exit(1)
})

const { Redactor } = await import("../../../../runner/redaction/Redactor.ts")
const add = Redactor.prototype.add
Redactor.prototype.add = function (secrets) {
  if (Array.from(secrets).some(({ value }) => String(Redacted.value(value)).includes(refuses)))
    throw new Error("no room")
  add.call(this, secrets)
}

await import("../../../../runner/redaction/RedactionWorker.ts")
