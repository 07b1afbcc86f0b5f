import { intFlag } from "./ValueFlags.ts"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { IsolationFloor } from "../../schema/policy/ExecutionProfile.ts"
import { type AgentPool, leaseBounds } from "../../schema/records/AgentPool.ts"
import { OperatorPools } from "../operator/Operator.ts"
import type { PoolChange } from "../operator/PoolCommands.ts"
import type { Settings } from "../settings/Settings.ts"
import { jsonFlag, print } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const formatted = (pools: ReadonlyArray<AgentPool>): string =>
  pools.length === 0
    ? "There are no pools: the control plane executes every Run."
    : pools
        .flatMap(({ agents, isolation, leaseSeconds, name, provisions, workspaces }) => [
          `${name}  ${agents} agents  isolation ${isolation ?? "any"}  lease ${leaseSeconds} s  ${workspaces.length === 0 ? "assigned to no Workspace" : workspaces.join(", ")}`,
          ...provisions.map((one) => `  provides ${one.name} to ${one.workspace}`)
        ])
        .join("\n")

export const withPools = <A, E>(settings: Settings, use: (pools: OperatorPools["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(OperatorPools, use).pipe(Effect.provide(OperatorPools.layer(settings)))

const poolArgument = Argument.String("pool").pipe(Argument.withDescription("Name of the pool"))

const poolSettings = {
  isolation: Flag.Literals("isolation", IsolationFloor.literals).pipe(
    Flag.withDescription("The minimum isolation level of the pool's agents"),
    Flag.optional
  ),
  lease: intFlag("lease", leaseBounds.minimum, leaseBounds.maximum).pipe(
    Flag.withDescription("Seconds for which an agent may be silent during an apply (default 2700)"),
    Flag.withMetavar("seconds"),
    Flag.optional
  )
}

const set = (isolation: Option.Option<typeof IsolationFloor.Type>, lease: Option.Option<number>) => ({
  ...(Option.isSome(isolation) ? { isolation: isolation.value } : {}),
  ...(Option.isSome(lease) ? { leaseSeconds: lease.value } : {})
})

const listCommand = Command.make(
  "list",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("pool.list")(function* ({ config, json, ...flags }) {
    const pools = yield* withPools(yield* settingsOf(flags, config), ({ list }) => list)
    yield* print(json, { pools }, formatted(pools))
  })
).pipe(Command.withDescription("List the pools and the Workspaces that may use them"))

const settingCommand = (word: "create" | "set", description: string) =>
  Command.make(
    word,
    { ...dataFlags, pool: poolArgument, ...poolSettings, json: jsonFlag },
    Effect.fn(`pool.${word}`)(function* ({ config, isolation, json, lease, pool, ...flags }) {
      const request: PoolChange = { word, pool, ...set(isolation, lease) }
      const pools = yield* withPools(yield* settingsOf(flags, config), ({ change }) => change(request))
      yield* print(json, { pools }, formatted(pools))
    })
  ).pipe(Command.withDescription(description))

const assignment = (word: "assign" | "unassign", description: string) =>
  Command.make(
    word,
    {
      ...dataFlags,
      pool: poolArgument,
      workspace: Argument.String("workspace").pipe(Argument.withDescription("Handle of the Workspace, or its id")),
      json: jsonFlag
    },
    Effect.fn(`pool.${word}`)(function* ({ config, json, pool, workspace, ...flags }) {
      const pools = yield* withPools(yield* settingsOf(flags, config), ({ change }) =>
        change({ word, pool, workspace })
      )
      yield* print(json, { pools }, formatted(pools))
    })
  ).pipe(Command.withDescription(description))

const provision = (word: "provide" | "withhold", description: string) =>
  Command.make(
    word,
    {
      ...dataFlags,
      pool: poolArgument,
      name: Argument.String("name").pipe(Argument.withDescription("Name of the credentials on the agents")),
      workspace: Argument.String("workspace").pipe(Argument.withDescription("Handle of the Workspace, or its id")),
      json: jsonFlag
    },
    Effect.fn(`pool.${word}`)(function* ({ config, json, name, pool, workspace, ...flags }) {
      const pools = yield* withPools(yield* settingsOf(flags, config), ({ change }) =>
        change({ word, pool, name, workspace })
      )
      yield* print(json, { pools }, formatted(pools))
    })
  ).pipe(Command.withDescription(description))

const removeCommand = Command.make(
  "remove",
  { ...dataFlags, pool: poolArgument, json: jsonFlag },
  Effect.fn("pool.remove")(function* ({ config, json, pool, ...flags }) {
    const pools = yield* withPools(yield* settingsOf(flags, config), ({ change }) => change({ word: "remove", pool }))
    yield* print(json, { pools }, formatted(pools))
  })
).pipe(Command.withDescription("Remove a pool without agents and without open Runs"))

/** Commands for pools of agents. */
export const poolCommand = Command.make("pool").pipe(
  Command.withDescription("Pools of agents, which execute Runs on other machines"),
  Command.withSubcommands([
    listCommand,
    settingCommand("create", "Create a pool, to which execution profiles in the policy file refer"),
    settingCommand("set", "Change a pool, from the next Run on"),
    assignment("assign", "Let a Workspace use a pool"),
    assignment("unassign", "Withdraw a pool from a Workspace; Runs that wait for the pool stay in the queue"),
    provision(
      "provide",
      "Let Connections of a Workspace use credentials of the agents; every module of the Workspace can then read them"
    ),
    provision("withhold", "Withdraw credentials from a Workspace; Runs whose Connection refers to them are refused"),
    removeCommand
  ])
)
