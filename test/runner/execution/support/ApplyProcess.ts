// Plans and applies in a separate process that a test can kill. Prints the run folder once the apply is running.
import { Console, Effect, Schema } from "effect"
import { credentials } from "./ProviderStage.ts"
import { applyJob, planJob, recorder } from "./RunnerHarness.ts"
import { runnerWith, TestRunner } from "./TestRunner.ts"

const Request = Schema.fromJsonString(
  Schema.Struct({
    folder: Schema.String,
    mirror: Schema.String,
    interpreter: Schema.String,
    notesDir: Schema.String,
    isolation: Schema.Literals(["auto", "off"]),
    main: Schema.String
  })
)

const program = Effect.gen(function* () {
  const request = yield* Schema.decodeUnknownEffect(Request)(process.argv[2])
  const job = planJob(
    request.folder,
    { "main.tf": request.main },
    {
      mirror: { path: request.mirror, required: true },
      credentials: [credentials(request.notesDir)]
    }
  )
  const run = Effect.gen(function* () {
    const runner = yield* TestRunner
    const plan = yield* runner.plan(job, recorder().sink)
    const apply = applyJob(request.folder, job, plan)
    const seen = recorder()
    let told = false
    const tell = Effect.sync(() => {
      const started = seen.events.filter((event) => event.kind === "resource.started").length
      if (told || started < 2 || seen.checkpoints.length === 0) return
      told = true
      process.stdout.write(`${apply.runFolder}\n`)
    })
    return yield* runner.apply(apply, {
      ...seen.sink,
      event: (kind, data) => Effect.andThen(seen.sink.event(kind, data), tell),
      checkpoint: (checkpoint) => Effect.andThen(seen.sink.checkpoint(checkpoint), tell)
    })
  })
  const outcome = yield* run.pipe(
    Effect.provide(
      runnerWith({
        isolation: request.isolation,
        ownFolder: `${request.folder}/sandbox`,
        extraReadOnly: [request.interpreter],
        extraWritable: [request.notesDir]
      })
    )
  )
  // Reached only if the test did not kill this process.
  yield* Console.error(`The apply ended by itself: ${JSON.stringify([outcome.exit, outcome.diagnostics])}`)
})

await Effect.runPromise(program)
