import { Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { AgentFolder } from "../../runner/agent/AgentFolder.ts"
import { AgentParty } from "../../runner/agent/AgentParty.ts"
import { Guard } from "../../runner/agent/guard/Guard.ts"
import { JobFiles } from "../../runner/agent/JobFiles.ts"
import { AgentRuns } from "./AgentRuns.ts"
import { AgentSession } from "./AgentSession.ts"
import { AgentWork } from "./AgentWork.ts"
import { agentMachine } from "./AgentMachine.ts"
import { RetryUntilAnswered } from "./RetryUntilAnswered.ts"
import { enrolled, type EnrolmentRequest } from "./Enrolment.ts"
import { httpTransport } from "./HttpTransport.ts"
import { type AgentOptions, MachineFacts } from "./MachineFacts.ts"

/** The error if another process that uses this folder is already taking jobs. */
export class AgentAlreadyRunning extends Schema.TaggedError<AgentAlreadyRunning>()("AgentAlreadyRunning", {
  message: Schema.String
}) {}

/**
 * The error if the platform is not Linux. Agents rely on two features of Linux: a clock that advances while the machine is
 * suspended, and a list of the processes in a folder.
 */
export class PlatformUnsupported extends Schema.TaggedError<PlatformUnsupported>()("PlatformUnsupported", {
  message: Schema.String
}) {}

export interface AgentStart extends AgentOptions, EnrolmentRequest {
  readonly folder: string
  /** Completes at the first request to stop. The agent then takes no new jobs, and exits after its last job. */
  readonly drain: Effect.Effect<void>
  /** Completes at the second request to stop. The agent then also asks the tools to stop. */
  readonly stop: Effect.Effect<void>
}

const working = (start: AgentStart) =>
  AgentWork.layer(start.places).pipe(
    Layer.provideMerge(JobFiles.layer),
    Layer.provideMerge(httpTransport),
    Layer.provideMerge(RetryUntilAnswered.layer),
    Layer.provideMerge(AgentRuns.layer),
    Layer.provideMerge(Layer.mergeAll(AgentSession.layer, Guard.layer)),
    Layer.provideMerge(Layer.effect(AgentParty, enrolled(start)))
  )

/** Runs an agent until it has drained. */
export const agentProcess = Effect.fn("agentProcess")(function* (start: AgentStart) {
  if (process.platform !== "linux") {
    return yield* new PlatformUnsupported({
      message: "An agent runs on Linux. Elsewhere, Runs are executed by svc serve."
    })
  }
  const base = MachineFacts.layer(start).pipe(
    Layer.provideMerge(Layer.merge(AgentFolder.layerAt(start.folder), agentMachine(start.folder)))
  )
  yield* Effect.gen(function* () {
    const folder = yield* AgentFolder
    const taking = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(taking, exit))
    if (!(yield* Scope.provide(folder.lock, taking))) {
      return yield* new AgentAlreadyRunning({
        message: `Another agent takes jobs with the folder ${start.folder}. Stop it, or choose another folder with --dir.`
      })
    }
    yield* Effect.gen(function* () {
      const work = yield* AgentWork
      const runs = yield* AgentRuns
      const machine = yield* MachineFacts
      const { identity } = yield* AgentParty
      yield* Effect.logInfo(`${identity.agentId} takes Runs of the pool ${identity.pool} from ${identity.server}.`)
      yield* work.adopt
      const renewing = yield* Effect.forkScoped(work.renew)
      yield* Effect.forkScoped(Effect.andThen(start.stop, runs.stopTools))
      yield* Effect.raceFirst(work.takeJobs, start.drain)
      yield* machine.drain
      // From here on, let another process take jobs while this process finishes its Runs.
      yield* Scope.close(taking, Exit.void)
      yield* work.over
      // Interrupt the renewal first, because it would begin another session when this session ends.
      yield* Fiber.interrupt(renewing)
      yield* work.leave
    }).pipe(Effect.provide(working(start)))
  }).pipe(Effect.scoped, Effect.provide(base))
})
