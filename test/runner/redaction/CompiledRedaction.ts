// Entry point of the binary compiled by CompiledBinary.test.ts, which redacts a secret in its arguments.
import { Console, Effect, Redacted } from "effect"
import { Redaction } from "../../../runner/redaction/Redaction.ts"
import { redacted } from "../../../runner/redaction/RunRedactor.ts"

const program = Effect.gen(function* () {
  const redaction = yield* Redaction
  const redactor = yield* redaction.redactor([{ origin: "env.TOKEN", value: Redacted.make("the-secret") }])
  yield* Console.log(yield* redacted(redactor, (hide) => hide.text(process.argv.at(-1) ?? "")))
})

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(Redaction.layer)))
