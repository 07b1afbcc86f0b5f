import { durationFlag, intFlag } from "./ValueFlags.ts"
import { Console, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Agent } from "../../schema/records/AgentPool.ts"
import { OperatorReleases } from "../operator/Operator.ts"
import { type AgentChange, lifetimeBounds, usesBounds } from "../operator/PoolCommands.ts"
import { jsonFlag, print, printSecret } from "./Output.ts"
import { withPools } from "./PoolCommand.ts"
import { releasedText } from "./ReleasedText.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const formatted = (agents: ReadonlyArray<Agent>): string =>
  agents.length === 0
    ? "No agent is enrolled."
    : agents
        .map(
          ({ id, isolation, lastContactAt, name, places, platform, pool, runs, status, tools }) =>
            `${id}  ${pool}/${name}  ${status}  ${runs} of ${places} places  ${platform}  ${isolation}  ${tools.map((tool) => `${tool.name} ${tool.version}`).join(", ")}  (${lastContactAt})`
        )
        .join("\n")

const listCommand = Command.make(
  "list",
  {
    ...dataFlags,
    pool: Flag.String("pool").pipe(
      Flag.withDescription("Only the agents of this pool"),
      Flag.withMetavar("name"),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fn("agent.list")(function* ({ config, json, pool, ...flags }) {
    const agents = yield* withPools(yield* settingsOf(flags, config), (pools) =>
      pools.agents(Option.getOrUndefined(pool))
    )
    yield* print(json, { agents }, formatted(agents))
  })
).pipe(Command.withDescription("List the agents, with their tools and slots"))

const tokenCommand = Command.make(
  "token",
  {
    ...dataFlags,
    pool: Flag.String("pool").pipe(Flag.withDescription("Pool that the agents join"), Flag.withMetavar("name")),
    uses: intFlag("uses", usesBounds.minimum, usesBounds.maximum).pipe(
      Flag.withDescription("Number of agents that may enrol with it; default: 1"),
      Flag.withMetavar("count"),
      Flag.withDefault(1)
    ),
    expires: durationFlag("expires", lifetimeBounds).pipe(
      Flag.withDescription("Lifetime of the token, such as 7d; default: 1h"),
      Flag.withDefault(3_600_000)
    ),
    json: jsonFlag
  },
  Effect.fn("agent.token")(function* ({ config, expires, json, pool, uses, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const lifetimeSeconds = Math.round(expires / 1000)
    const issued = yield* withPools(settings, ({ token }) => token({ pool, uses, lifetimeSeconds }))
    const secret = Redacted.value(issued.secret)
    yield* printSecret(
      print(json, { id: issued.id, token: secret, expiresAt: issued.expiresAt }, secret),
      "token",
      withPools(settings, ({ changeAgent }) => changeAgent({ word: "revoke-token", id: issued.id }))
    )
    if (json) return
    // Write to stderr, because stdout may be redirected to an agent's token file.
    yield* Console.error(
      `Shown this once; good for ${uses} ${uses === 1 ? "agent" : "agents"} until ${issued.expiresAt} (${issued.id}).`
    )
  })
).pipe(Command.withDescription("Issue a token for enrolling agents"))

const change = (word: AgentChange["word"], what: string, description: string) =>
  Command.make(
    word,
    { ...dataFlags, id: Argument.String("id").pipe(Argument.withDescription(what)), json: jsonFlag },
    Effect.fn(`agent.${word}`)(function* ({ config, id, json, ...flags }) {
      const agents = yield* withPools(yield* settingsOf(flags, config), ({ changeAgent }) => changeAgent({ word, id }))
      yield* print(json, { agents }, formatted(agents))
    })
  ).pipe(Command.withDescription(description))

const releaseCommand = Command.make(
  "release",
  {
    ...dataFlags,
    run: Argument.String("run").pipe(Argument.withDescription("The Run, run_...")),
    fence: Flag.optional(
      intFlag("fence", 0).pipe(
        Flag.withDescription("Fence of the agent's claim, which the command shows if it is omitted"),
        Flag.withMetavar("number")
      )
    ),
    toolIsDead: Flag.Boolean("tool-is-dead").pipe(
      Flag.withDescription("Confirm that the Run's tool is no longer running")
    ),
    json: jsonFlag
  },
  Effect.fn("agent.release")(function* ({ config, fence, json, run, toolIsDead, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const seen = Option.match(fence, { onNone: () => ({}), onSome: (number) => ({ fence: number }) })
    const released = yield* Effect.flatMap(OperatorReleases, ({ release }) =>
      release({ runId: run, toolIsDead, ...seen })
    ).pipe(Effect.provide(OperatorReleases.layer(settings)))
    yield* print(json, { released }, releasedText(released))
  })
).pipe(Command.withDescription("Settle the Run of a lost agent before its lease expires"))

/** The operator's commands for agents. */
export const agentCommand = Command.make("agent").pipe(
  Command.withDescription("Agents of pools, their enrolment tokens and their Runs"),
  Command.withSubcommands([
    listCommand,
    tokenCommand,
    change("drain", "The agent, agt_...", "Let an agent finish its Runs, and give it no new Runs"),
    change("undrain", "The agent, agt_...", "Give a draining agent Runs again"),
    change(
      "revoke",
      "The agent, agt_...",
      "Revoke an agent and end its sessions; its running applies keep their leases"
    ),
    change("revoke-token", "The enrolment token, aet_...", "Revoke an enrolment token"),
    releaseCommand
  ])
)
