import { hostname } from "node:os"
import { resolve } from "node:path"
import { Console, Deferred, Effect, Fiber, Option, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import { statSync } from "node:fs"
import { AgentFolder, storedAgent } from "../../../runner/agent/AgentFolder.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import { agentProcess } from "../../agent/AgentProcess.ts"
import { logging } from "../../observability/Logging.ts"
import { CommandFailed, jsonFlag, misuse, print } from "../Output.ts"
import { secondSignal } from "../StopSignals.ts"
import { agentDoctorCommand } from "./AgentDoctor.ts"
import { dirFlag, folderOf, givenOr, labelsOf, placesOf, serverFlag, serverOf, tokenOf } from "./AgentFlags.ts"
import { agentEnv } from "../../settings/AgentVariables.ts"
import { anyNumber, intFlag } from "../ValueFlags.ts"

/** Derives a valid agent name from the machine's name. */
const ownName = () =>
  hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 63) || "agent"

const longestWait = "60 seconds"
const statusInterval = Schedule.spaced("500 millis")

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

const outcomeText: Readonly<Record<Outcome, string>> = {
  in_use: "The agent has new keys. The former ones are not accepted any more.",
  waiting: "New keys are ready. The agent will use them as soon as its server responds.",
  at_next_start:
    "New keys are ready. No agent takes Runs with this folder: the next start takes the keys, or a process that still finishes its Runs."
}

const rotateKeys = Effect.gen(function* () {
  const folder = yield* AgentFolder
  const { public: made } = yield* folder.prepareKeys
  // The lock is free only while no process executes Runs.
  const isIdle = yield* Effect.scoped(folder.lock)
  if (isIdle) return "at_next_start" satisfies Outcome
  const taken = yield* folder.keys.pipe(
    Effect.repeat({ until: (keys) => keys.public.sign === made.sign, schedule: statusInterval }),
    Effect.timeoutOption(longestWait)
  )
  return Option.isSome(taken) ? ("in_use" satisfies Outcome) : ("waiting" satisfies Outcome)
})

const agentRotateCommand = Command.make(
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
    const outcome = yield* rotateKeys.pipe(Effect.provide(AgentFolder.layerAt(path)))
    yield* print(json, { keys: outcome }, outcomeText[outcome])
  })
).pipe(
  Command.withDescription(
    "Replace the keys of the agent in this folder, which continues its Runs. A running agent does this automatically every 30 days. If somebody may have read the keys, revoke the agent instead (svc admin agent revoke) and enrol it again"
  ),
  Command.withExamples([
    { command: "svc agent rotate --dir /var/lib/svc-agent", description: "Before the 30 days are over" }
  ])
)

export const agentCommand = Command.make(
  "agent",
  {
    server: serverFlag,
    pool: Flag.optional(
      Flag.String("pool").pipe(
        Flag.withDescription("Pool of the enrolment token, whose Runs the agent executes; default: SVC_AGENT_POOL"),
        Flag.withMetavar("name")
      )
    ),
    tokenFile: Flag.optional(
      Flag.String("token-file").pipe(
        Flag.withDescription("File with the enrolment token, for the first start; default: SVC_AGENT_TOKEN"),
        Flag.withMetavar("file")
      )
    ),
    dir: dirFlag,
    places: Flag.optional(
      intFlag("places", 1).pipe(
        Flag.withDescription("Maximum number of concurrent Runs; default: SVC_AGENT_PLACES, or 2"),
        Flag.withMetavar("number")
      )
    ),
    name: Flag.optional(
      Flag.String("name").pipe(
        Flag.withDescription("Name of the agent; default: SVC_AGENT_NAME, or the name of this machine"),
        Flag.withMetavar("name")
      )
    ),
    label: Flag.String("label").pipe(
      Flag.withDescription(
        "Label of the agent, as key=value; may be repeated; default: SVC_AGENT_LABELS, separated by commas"
      ),
      Flag.withMetavar("key=value"),
      anyNumber
    ),
    log: Flag.Literals("log", ["debug", "info", "warn", "error", "none"]).pipe(
      Flag.withDescription("Log level on standard error"),
      Flag.withDefault("info")
    ),
    json: jsonFlag
  },
  Effect.fn("agent")(function* (given) {
    const server = yield* serverOf(given.server)
    const pool = yield* givenOr(given.pool, agentEnv.pool)
    if (Option.isNone(pool)) {
      return yield* new CommandFailed({
        ...misuse,
        message: "Say whose Runs it takes: --pool NAME, or SVC_AGENT_POOL."
      })
    }
    if (pool.value === localPool) {
      return yield* new CommandFailed({
        ...misuse,
        message: `The pool ${localPool} is the control plane itself; it needs no agent.`
      })
    }
    const places = yield* placesOf(given.places)
    const folder = resolve(yield* folderOf(given.dir))
    const drain = yield* Deferred.make<void>()
    const agent = yield* agentProcess({
      server,
      pool: pool.value,
      folder,
      places,
      name: Option.getOrElse(yield* givenOr(given.name, agentEnv.name), ownName),
      labels: yield* labelsOf(given.label),
      token: yield* tokenOf(given.tokenFile),
      drain: Deferred.await(drain),
      stop: yield* secondSignal
    }).pipe(Effect.provide(logging({ level: given.log, format: given.json ? "json" : "pretty" })), Effect.forkDetach)
    // A stop request interrupts this fiber. Let the agent finish its Runs first.
    yield* Fiber.join(agent).pipe(
      Effect.onInterrupt(() =>
        Console.error(
          given.json ? JSON.stringify({ draining: true }) : "svc: draining; once more stops running tools"
        ).pipe(Effect.andThen(Deferred.succeed(drain, undefined)), Effect.andThen(Fiber.await(agent)))
      )
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Execute the Runs of a pool on this machine; the first start enrols the agent. On SIGTERM, it finishes its Runs and exits"
  ),
  Command.withExamples([
    {
      command: "svc agent --server https://svc.example.com --pool eu-west --token-file token",
      description: "Enrol this machine and execute Runs"
    },
    {
      command: "svc agent --server https://svc.example.com --pool eu-west --places 4 --label zone=eu-west-1a",
      description: "Four Runs at once, with a label"
    }
  ]),
  Command.withSubcommands([agentDoctorCommand, agentRotateCommand])
)
