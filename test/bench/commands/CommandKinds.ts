import { Context, Effect, Schema } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { ApprovalRules } from "../../../actors/access/approval/ApprovalRules.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { Connections } from "../../../actors/inputs/connection/Connections.ts"
import { AutomationMembers } from "../../../actors/access/member/AutomationMembers.ts"
import { Invitations } from "../../../actors/access/member/Invitations.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import { Teams } from "../../../actors/access/team/Teams.ts"
import { Projects } from "../../../actors/ledger/workspace/Projects.ts"
import { Workspaces } from "../../../actors/ledger/workspace/Workspaces.ts"
import { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { CapsuleId, SourceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { embeddedWith } from "../support/Embedded.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"

type World = Effect.Success<ReturnType<typeof embeddedWith>>

/** Commands that can be repeated, because they leave the service unchanged or add one record. */
export interface CommandKind {
  readonly name: string
  readonly once: (index: number) => Effect.Effect<unknown, unknown>
}

const context = serviceContext

/** Installs a Capsule of the module at this URL, and cancels its first plan. */
const installedCapsule = Effect.fnUntraced(function* ({ client, workspaceId }: World, url: string) {
  const { installPlan } = yield* client.installPlans.create({
    params: { workspaceId },
    headers: { "idempotency-key": "bench" },
    payload: { source: { name: "bench", url }, capsule: { name: "bench", environment: "bench" }, variables: {} }
  })
  const planned = yield* Effect.repeat(client.installPlans.read({ params: { installPlanId: installPlan.id } }), {
    until: (read) => read.installPlan.planRunId !== undefined || read.installPlan.phase === "failed"
  })
  const { capsuleId, planRunId } = planned.installPlan
  if (planRunId === undefined) return yield* Effect.die(new Error(JSON.stringify(planned.installPlan.diagnostics)))
  yield* client.runs.cancel({ params: { runId: planRunId }, payload: {} })
  return Schema.decodeUnknownSync(CapsuleId)(capsuleId)
})

/**
 * Returns commands on every kind of record that people change. Runs of the module at `url` must wait for an agent, so that
 * no tool runs during the measurement.
 */
export const commandKinds = Effect.fnUntraced(function* (world: World, url: string) {
  const { services, subject } = world
  const workspaceId = Schema.decodeUnknownSync(WorkspaceId)(world.workspaceId)
  const owner = { workspaceId, subject }
  const scope = { workspaceId, acting: { subject } }
  const sources = Context.get(services, Sources)
  const teams = Context.get(services, Teams)
  const rules = Context.get(services, ApprovalRules)
  const tokens = Context.get(services, AccessTokens)
  const invitations = Context.get(services, Invitations)
  const connections = Context.get(services, Connections)
  const capsuleCommands = Context.get(services, CapsuleCommands)
  const connectionCommands = Context.get(services, ConnectionCommands)
  const runCommands = Context.get(services, RunCommands)
  const sourceCommands = Context.get(services, SourceCommands)
  const workspaces = Context.get(services, Workspaces)
  const capsuleId = yield* installedCapsule(world, url)
  const newSource = (index: number) =>
    sources.create(context, { workspaceId, name: `bench ${index}`, url: "https://git.example.com/team/module.git" })
  const newConnection = (index: number) =>
    connections.create(
      context,
      CreateConnection.make({
        workspaceId,
        provider: "registry.opentofu.org/hashicorp/null",
        recipeId: "generic-env",
        authMode: "env",
        displayName: `bench ${index}`,
        values: { ONE: "a value that nobody reads" }
      })
    )
  const { source } = yield* newSource(0)
  const sourceId = Schema.decodeUnknownSync(SourceId)(source.id)
  const connection = yield* newConnection(0)
  const kinds: ReadonlyArray<CommandKind> = [
    {
      name: "change a Source",
      once: (index) => sourceCommands.Update(sourceId, { context, request: { name: `bench ${index}` } })
    },
    {
      name: "change a Connection",
      once: (index) => connectionCommands.Update(connection.id, { context, request: { displayName: `bench ${index}` } })
    },
    {
      name: "change a Capsule",
      once: (index) => capsuleCommands.Update(capsuleId, { context, name: `bench-${index}` })
    },
    {
      name: "rename a Workspace",
      once: (index) => workspaces.update(context, subject, workspaceId, { displayName: `bench ${index}` })
    },
    {
      name: "create a project",
      once: (index) => Context.get(services, Projects).create(context, workspaceId, { name: `bench ${index}` })
    },
    {
      name: "create and remove a team",
      once: (index) =>
        Effect.flatMap(teams.create(context, owner, { name: `bench-${index}` }), ({ id }) =>
          teams.remove(context, owner, id)
        )
    },
    {
      name: "create and remove an approval rule",
      once: (index) =>
        Effect.flatMap(rules.create(context, owner, { approvers: 1, environment: `bench-${index}` }), ({ id }) =>
          rules.remove(context, owner, id)
        )
    },
    {
      name: "create and remove an automation",
      once: (index) =>
        Effect.flatMap(
          Context.get(services, AutomationMembers).create(context, scope, { displayName: `bench ${index}` }),
          (member) => Context.get(services, Members).remove(context, scope, member.subject)
        )
    },
    {
      name: "create and revoke an invitation",
      once: (index) =>
        Effect.flatMap(invitations.create(context, scope, { email: `bench-${index}@example.com` }), ({ invitation }) =>
          invitations.revoke(context, scope, invitation.id)
        )
    },
    {
      name: "create and revoke a token",
      once: (index) =>
        Effect.flatMap(tokens.create(context, subject, { name: `bench ${index}`, scopes: ["read"] }), ({ token }) =>
          tokens.revoke(context, subject, token.token_id)
        )
    },
    // Each creation or removal of a Source starts an actor, and idle actors use memory for some seconds.
    {
      name: "create and remove a Source",
      once: (index) =>
        Effect.flatMap(newSource(index), (made) => sources.remove(context, SourceId.make(made.source.id)))
    },
    {
      name: "create and remove a Connection",
      once: (index) => Effect.flatMap(newConnection(index), ({ id }) => connectionCommands.Remove(id, { context }))
    },
    {
      name: "start and cancel a Run",
      once: () =>
        Effect.flatMap(capsuleCommands.Plan(capsuleId, { context }), ({ value }) =>
          runCommands.Cancel(value.id, { context })
        )
    }
  ]
  return kinds
})
