import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { rowsText, timeText } from "./Rows.ts"
import { workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("pool list")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const agentPools = yield* allPages((query) =>
        Effect.map(
          client.agentPools.list({ params: { workspaceId: id }, query }),
          ({ agentPools: items, nextCursor }) => ({ items, nextCursor })
        )
      )
      yield* print(
        given.json,
        { agentPools },
        agentPools.length === 0
          ? `${handle} may use no pool of agents: the server executes its Runs itself.`
          : rowsText(
              ["pool", "connected", "draining", "silent", "places", "waiting"],
              agentPools.map(({ agents, name, places, queued, runs }) => [
                name,
                String(agents.connected),
                String(agents.draining),
                String(agents.silent),
                `${runs} of ${places} taken`,
                String(queued)
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the pools of agents that a Workspace may use"), Command.withAlias("ls"))

const agentsCommand = Command.make(
  "agents",
  {
    ...workspaceFlags,
    pool: Flag.optional(
      Flag.String("pool").pipe(Flag.withDescription("Only the agents of this pool"), Flag.withMetavar("name"))
    )
  },
  Effect.fn("pool agents")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const pool = Option.match(given.pool, { onNone: () => ({}), onSome: (name) => ({ pool: name }) })
      const agents = yield* allPages((query) =>
        Effect.map(
          client.agentPools.agents({ params: { workspaceId: id }, query: { ...query, ...pool } }),
          ({ agents: items, nextCursor }) => ({ items, nextCursor })
        )
      )
      yield* print(
        given.json,
        { agents },
        agents.length === 0
          ? `${handle} has no agent.`
          : rowsText(
              ["pool", "name", "status", "places", "platform", "tools", "version", "heard of", "id"],
              agents.map((agent) => [
                agent.pool,
                terminalText(agent.name),
                agent.disk.low ? `${agent.status}, disk nearly full` : agent.status,
                `${agent.runs} of ${agent.places} taken`,
                agent.platform,
                agent.tools.map(({ name, version }) => terminalText(`${name} ${version}`)).join(", "),
                terminalText(agent.version),
                timeText(agent.lastContactAt) ?? "",
                agent.id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the agents of a Workspace's pools, with their tools and slots"))

export const poolCommand = Command.make("pool").pipe(
  Command.withDescription("Pools of agents, which execute Runs on other machines"),
  Command.withSubcommands([listCommand, agentsCommand])
)
