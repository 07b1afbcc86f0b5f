// `npm run test:attacks [-- --short] [-- --only TEXT]`: attacks a real server while an ordinary member uses it. For each
// attack, prints how long it blocked the main thread, the member's waiting time, and the server's memory afterwards. Exits
// with 1 if the thread was blocked for more than 250 ms, if memory remains at twice its idle size, or if an attempt
// succeeded.
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Duration, Effect, Runtime, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { Command, Flag } from "effect/cli"
import { platform } from "../../src/composition/Platform.ts"
import { svcProgram } from "../support/SvcProgram.ts"
import { type Attack, heading, idleOf, measured, memoryReturns } from "./Attack.ts"
import { agentAttacks } from "./cases/AgentAttacks.ts"
import { entranceAttacks } from "./cases/EntranceAttacks.ts"
import { memberAttacks } from "./cases/MemberAttacks.ts"
import { walkAttacks } from "./cases/WalkAttacks.ts"
import { startTarget } from "./Target.ts"

class AttacksSucceeded extends Schema.TaggedError<AttacksSucceeded>()("AttacksSucceeded", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const attacks: ReadonlyArray<Attack> = [...agentAttacks, ...entranceAttacks, ...memberAttacks, ...walkAttacks]

const flags = {
  short: Flag.Boolean("short").pipe(Flag.withDefault(false), Flag.withDescription("For CI: fewer attempts of each")),
  only: Flag.String("only").pipe(Flag.withDefault(""), Flag.withDescription("Those whose name holds this text"))
}

const command = Command.make(
  "test:attacks",
  flags,
  Effect.fn("attacks")(function* ({ only, short }) {
    const program = yield* Effect.promise(svcProgram)
    const [time, broken] = yield* Effect.timed(
      Effect.scoped(
        Effect.gen(function* () {
          const target = yield* startTarget(program)
          const idle = yield* idleOf(target, short ? 3 : 60)
          const priority = target.hasPriority ? "at a real-time priority" : "at an ordinary priority"
          yield* Console.log(
            `Idle: ${idle.resident.toFixed(0)} MiB, the bystander's p99 ${idle.p99.toFixed(1)} ms, ${priority}\n\n${heading}`
          )
          const chosen = attacks.filter(({ name }) => name.includes(only))
          const found = yield* Effect.forEach(chosen, (attack) => measured(target, idle, attack, short))
          const isSmall = yield* memoryReturns(target, idle)
          return found.filter((faults) => faults.length > 0).length + (isSmall ? 0 : 1)
        })
      )
    )
    yield* Console.log(`\n${Duration.toSeconds(time).toFixed(0)} s`)
    if (broken > 0) return yield* new AttacksSucceeded({ message: `${broken} promises were broken` })
  })
)

NodeRuntime.runMain(
  Command.runWith(command, { version: "1" })(process.argv.slice(2)).pipe(
    Effect.tapCause((cause) =>
      Cause.squash(cause) instanceof AttacksSucceeded ? Effect.void : Effect.logError("The suite could not run", cause)
    ),
    Effect.provide([FetchHttpClient.layer, platform])
  ),
  { disableErrorReporting: true }
)
