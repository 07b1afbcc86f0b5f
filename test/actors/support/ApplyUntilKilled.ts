// Runs a service in a separate process, so that a test can kill it while an apply and a plan's build are running. Prints
// details for the test once the service has stored a state with one finished and one unfinished resource.
import { Effect, Layer, Schema } from "effect"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../actors/commands/install-plan/InstallPlans.ts"
import { awaitRun } from "../../../actors/ledger/run/RunJournal.ts"
import { RelativePath } from "../../../schema/records/Primitives.ts"
import { platform } from "../../../src/composition/Platform.ts"
import {
  applying,
  bound,
  coordinatedRun,
  demoConnection,
  eventOf,
  freshKey,
  planned,
  requestOf
} from "../../support/Journey.ts"
import { newOwner, planeAt, TestPlane } from "../../support/TestPlane.ts"
import { InstallPlanCommands } from "../../../schema/commands/InstallPlanCommands.ts"

const Given = Schema.fromJsonString(
  Schema.Struct({
    dataDir: Schema.String,
    mirror: Schema.Struct({ path: Schema.String, interpreter: Schema.String, notesDir: Schema.String }),
    origin: Schema.String,
    url: Schema.String,
    token: Schema.String,
    variables: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
  })
)

const journey = Effect.fnUntraced(function* (token: string, variables: Readonly<Record<string, Schema.Json>> = {}) {
  const { context, workspaceId } = yield* TestPlane
  const connection = yield* demoConnection(token)
  const bindings = { variables, options: { providerBindings: [bound(connection.id)] } }
  const { capsuleId, plan } = yield* planned("killed", {}, bindings)

  // Starts a plan, which is still running while its build sleeps.
  const building = yield* (yield* InstallPlans).create(
    context,
    workspaceId,
    yield* requestOf("building", {
      initialConfiguration: {
        sourceBuild: { commands: [{ argv: ["sleep", "600"] }], outputs: [RelativePath.make("out")] }
      }
    }),
    freshKey()
  )
  for (;;) {
    const at = yield* (yield* InstallPlanCommands).Reconcile(building.value.id, { context })
    if (at.planRunId !== undefined) {
      yield* eventOf(at.planRunId, "run.phase")
      const apply = yield* applying(plan)
      yield* eventOf(apply.id, "resource.completed")
      yield* eventOf(apply.id, "state.saved")
      const { sourceId } = yield* (yield* Capsules).read(capsuleId)
      const told = {
        context,
        workspaceId,
        capsuleId,
        sourceId,
        planId: plan.id,
        applyId: apply.id,
        buildingId: at.planRunId
      }
      process.stdout.write(`${JSON.stringify(told)}\n`)
      return yield* Effect.never
    }
    const run = yield* coordinatedRun(at.id)
    if (run !== undefined) yield* awaitRun(run)
  }
})

const program = Effect.gen(function* () {
  const { dataDir, mirror, origin, token, url, variables } = yield* Schema.decodeUnknownEffect(Given)(process.argv[2])
  const plane = Layer.effect(
    TestPlane,
    Effect.map(newOwner("owner"), (owner) =>
      TestPlane.of({
        ...owner,
        dataDir,
        notesDir: mirror.notesDir,
        url,

        // These calls do nothing, because the test has already committed.
        commit: () => Effect.succeed(""),
        moveBranch: () => Effect.void
      })
    )
  ).pipe(Layer.provideMerge(planeAt({ dataDir, mirror, origins: [origin] })))
  return yield* journey(token, variables).pipe(Effect.provide(plane))
}).pipe(Effect.provide(platform), Effect.scoped)

await Effect.runPromise(program)
