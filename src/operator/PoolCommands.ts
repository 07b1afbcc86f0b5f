import { Context, Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { newId } from "../../actors/base/Identity.ts"
import { Agents } from "../../actors/running/agent-pool/Agents.ts"
import { Pools } from "../../actors/running/agent-pool/Pools.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { IsolationFloor } from "../../schema/policy/ExecutionProfile.ts"
import { type Agent, type AgentPool, LeaseSeconds } from "../../schema/records/AgentPool.ts"

const settings = { isolation: Schema.optionalKey(IsolationFloor), leaseSeconds: Schema.optionalKey(LeaseSeconds) }

const assignment = { pool: Schema.String, workspace: Schema.String }
const provision = { ...assignment, name: Schema.String }

// One member per command, so that a refusal lists only the fields of the given command.
export const PoolChange = Schema.Union([
  Schema.Struct({ word: Schema.Literal("create"), pool: Schema.String, ...settings }),
  Schema.Struct({ word: Schema.Literal("set"), pool: Schema.String, ...settings }),
  Schema.Struct({ word: Schema.Literal("remove"), pool: Schema.String }),
  Schema.Struct({ word: Schema.Literal("assign"), ...assignment }),
  Schema.Struct({ word: Schema.Literal("unassign"), ...assignment }),
  Schema.Struct({ word: Schema.Literal("provide"), ...provision }),
  Schema.Struct({ word: Schema.Literal("withhold"), ...provision })
])
export type PoolChange = typeof PoolChange.Type

/** Limits on how many times an enrolment token can be used. */
export const usesBounds = { minimum: 1, maximum: 10_000 }
export const lifetimeBounds = { minimum: 60, maximum: 30 * 86_400 }

export const EnrolmentRequest = Schema.Struct({
  pool: Schema.String,
  uses: Schema.Int.check(Schema.isBetween(usesBounds)),
  lifetimeSeconds: Schema.Int.check(Schema.isBetween(lifetimeBounds))
})
export type EnrolmentRequest = typeof EnrolmentRequest.Type

export const IssuedEnrolment = Schema.Struct({
  id: Schema.String,
  secret: Schema.RedactedFromValue(Schema.String),
  expiresAt: Schema.String
})
export type IssuedEnrolment = typeof IssuedEnrolment.Type

export const AgentChange = Schema.Struct({
  word: Schema.Literals(["revoke", "drain", "undrain", "revoke-token"]),
  id: Schema.String
})
export type AgentChange = typeof AgentChange.Type

/** Commands for pools and agents. Each change records an audit event `operator.command`. */
export class PoolCommands extends Context.Service<
  PoolCommands,
  {
    readonly list: Effect.Effect<ReadonlyArray<AgentPool>>
    readonly change: (change: PoolChange) => Effect.Effect<ReadonlyArray<AgentPool>, ApiError>
    readonly token: (request: EnrolmentRequest) => Effect.Effect<IssuedEnrolment, ApiError>
    readonly agents: (pool: string | undefined) => Effect.Effect<ReadonlyArray<Agent>>
    readonly changeAgent: (change: AgentChange) => Effect.Effect<ReadonlyArray<Agent>, ApiError>
  }
>()("svc/src/operator/PoolCommands") {
  static readonly layer = Layer.effect(
    PoolCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pools = yield* Pools
      const agents = yield* Agents
      const audit = yield* Audit
      const random = yield* SecureRandom.SecureRandom

      const audited = <A>(
        change: Effect.Effect<A, ApiError>,
        command: string,
        target: { readonly kind: string; readonly id: string },
        data: Readonly<Record<string, string | number>> = {}
      ): Effect.Effect<A, ApiError> =>
        Effect.gen(function* () {
          const done = yield* change
          yield* audit.append({
            workspaceId: null,
            actor: serviceContext.actor,
            action: "operator.command",
            target,
            data: { command: `admin ${command}`, ...data },
            requestId: yield* newId(Schema.String, "op").pipe(Effect.provideService(SecureRandom.SecureRandom, random))
          })
          return done
        }).pipe(
          transaction(sql),
          Effect.tap(Effect.logInfo(`Done for an operator: svc admin ${command}, ${target.kind} ${target.id}`))
        )

      const changed = (request: PoolChange): Effect.Effect<unknown, ApiError> => {
        switch (request.word) {
          case "create":
            return pools.create(request.pool, request)
          case "set":
            return pools.set(request.pool, request)
          case "remove":
            return pools.remove(request.pool)
          case "assign":
            return pools.assign(request.pool, request.workspace)
          case "unassign":
            return pools.unassign(request.pool, request.workspace)
          case "provide":
            return pools.provide(request.pool, request.name, request.workspace)
          case "withhold":
            return pools.withhold(request.pool, request.name, request.workspace)
        }
      }

      const change = Effect.fn("PoolCommands.change")(function* (request: PoolChange) {
        const data = {
          ...("workspace" in request ? { workspace: request.workspace } : {}),
          ...("name" in request ? { name: request.name } : {})
        }
        yield* audited(changed(request), `pool ${request.word}`, { kind: "agent_pool", id: request.pool }, data)
        return yield* pools.list
      })

      const token = Effect.fn("PoolCommands.token")(function* ({ lifetimeSeconds, pool, uses }: EnrolmentRequest) {
        const issued = pools.token(pool, { uses, lifetime: Duration.seconds(lifetimeSeconds) })
        return yield* audited(issued, "agent token", { kind: "agent_pool", id: pool }, { uses, lifetimeSeconds })
      })

      const changedAgent = ({ id, word }: AgentChange): Effect.Effect<void, ApiError> => {
        switch (word) {
          case "revoke":
            return agents.revoke(id)
          case "revoke-token":
            return pools.revokeToken(id)
          default:
            return agents.drain(id, word === "drain")
        }
      }

      const changeAgent = Effect.fn("PoolCommands.changeAgent")(function* (request: AgentChange) {
        const { id, word } = request
        const kind = word === "revoke-token" ? "agent_enrolment_token" : "agent"
        yield* audited(changedAgent(request), `agent ${word}`, { kind, id })
        return yield* agents.list()
      })

      return PoolCommands.of({ list: pools.list, change, token, agents: agents.list, changeAgent })
    })
  )
}
