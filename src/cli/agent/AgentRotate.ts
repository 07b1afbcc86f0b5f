import { statSync } from "node:fs"
import { resolve } from "node:path"
import { Effect, Option, Schedule } from "effect"
import { Command } from "effect/cli"
import { AgentFolder, storedAgent } from "../../../runner/agent/AgentFolder.ts"
import { CommandFailed, jsonFlag, misuse, print } from "../Output.ts"
import { dirFlag, folderOf } from "./AgentFlags.ts"

const longestWait = "60 seconds"
const often = Schedule.spaced("500 millis")

/**
 * Refuses to run as root if the folder belongs to another user, because the command would leave a file that the agent cannot
 * read.
 */
const requireOwner = (folder: string) =>
  process.getuid?.() === 0 && statSync(folder).uid !== 0
    ? Effect.fail(
        new CommandFailed({ message: `The folder ${folder} belongs to another user. Repeat the command as that user.` })
      )
    : Effect.void

type Outcome = "in_use" | "waiting" | "at_next_start"

const words: Readonly<Record<Outcome, string>> = {
  in_use: "The agent has new keys. The former ones are not accepted any more.",
  waiting: "New keys are ready. The agent will use them as soon as its server responds.",
  at_next_start:
    "New keys are ready. No agent takes Runs with this folder: the next start takes the keys, or a process that still finishes its Runs."
}

const rotated = Effect.gen(function* () {
  const folder = yield* AgentFolder
  const { public: made } = yield* folder.prepareKeys
  // The lock is free only while no process executes Runs.
  const isIdle = yield* Effect.scoped(folder.lock)
  if (isIdle) return "at_next_start" satisfies Outcome
  const taken = yield* folder.keys.pipe(
    Effect.repeat({ until: (keys) => keys.public.sign === made.sign, schedule: often }),
    Effect.timeoutOption(longestWait)
  )
  return Option.isSome(taken) ? ("in_use" satisfies Outcome) : ("waiting" satisfies Outcome)
})

export const agentRotateCommand = Command.make(
  "rotate",
  { dir: dirFlag, json: jsonFlag },
  Effect.fn("agent rotate")(function* ({ dir, json }) {
    const path = resolve(yield* folderOf(dir))
    if (Option.isNone(yield* storedAgent(path).identity)) {
      return yield* new CommandFailed({
        ...misuse,
        message: `${path} contains no enrolled agent. Set its folder with --dir.`
      })
    }
    yield* requireOwner(path)
    const outcome = yield* rotated.pipe(Effect.provide(AgentFolder.layerAt(path)))
    yield* print(json, { keys: outcome }, words[outcome])
  })
).pipe(
  Command.withDescription(
    "Replace the keys of the agent in this folder, which continues its Runs. A running agent does this automatically every 30 days. If somebody may have read the keys, revoke the agent instead (svc admin agent revoke) and enrol it again"
  ),
  Command.withExamples([
    { command: "svc agent rotate --dir /var/lib/svc-agent", description: "Before the 30 days are over" }
  ])
)
