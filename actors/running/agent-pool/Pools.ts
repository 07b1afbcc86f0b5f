import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { localPool, PoolName } from "../../../schema/agent/PoolName.ts"
import { ProvidedName } from "../../../schema/agent/ProvidedName.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import type { IsolationFloor } from "../../../schema/policy/ExecutionProfile.ts"
import { type AgentPool, defaultLeaseSeconds } from "../../../schema/records/AgentPool.ts"
import { EnrolmentTokenId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { EnrolmentTokenRow, PoolRow, PoolWorkspaceRow, ProvisionRow } from "./PoolRows.ts"

const ListedPool = rowShape({ ...PoolRow.columns, agents: Schema.Int })
const AssignedHandle = rowShape({ pool: PoolName, handle: Schema.String })
const ProvidedHandle = rowShape({ pool: PoolName, name: ProvidedName, handle: Schema.String })
const FoundWorkspace = rowShape({ id: WorkspaceId })
const Counted = rowShape({ count: Schema.Int })

/** Pool settings that an operator can change. */
export interface PoolSettings {
  readonly isolation?: typeof IsolationFloor.Type | undefined
  readonly leaseSeconds?: number | undefined
}

const named = Schema.decodeUnknownEffect(PoolName)
const providedName = Schema.decodeUnknownEffect(ProvidedName)

/**
 * Manages pools of agents, the Workspaces that may use them, and their enrolment tokens. Every method works in the caller's
 * transaction.
 */
export class Pools extends Context.Service<
  Pools,
  {
    /** True if any pool exists. Without pools, the server offers no agent routes. */
    readonly exist: Effect.Effect<boolean>
    readonly find: (name: string) => Effect.Effect<PoolRow, ApiError>
    readonly list: Effect.Effect<ReadonlyArray<AgentPool>>
    readonly create: (name: string, settings: PoolSettings) => Effect.Effect<void, ApiError>
    readonly set: (name: string, settings: PoolSettings) => Effect.Effect<void, ApiError>
    /**
     * Removes a pool. Fails while an agent is enrolled in the pool or a Run is waiting for it. Afterwards, its name can be
     * reused.
     */
    readonly remove: (name: string) => Effect.Effect<void, ApiError>
    /** Allows a Workspace to use the pool. `workspace` is an id or a handle. */
    readonly assign: (name: string, workspace: string) => Effect.Effect<WorkspaceId, ApiError>
    readonly unassign: (name: string, workspace: string) => Effect.Effect<WorkspaceId, ApiError>
    /**
     * Allows Connections in a Workspace to use the agents' credentials that have this name. Any module in that Workspace can
     * then read these credentials.
     */
    readonly provide: (name: string, provided: string, workspace: string) => Effect.Effect<WorkspaceId, ApiError>
    /**
     * Withdraws permission to use the agents' credentials. From then on, Runs whose Connection uses the credentials are
     * refused.
     */
    readonly withhold: (name: string, provided: string, workspace: string) => Effect.Effect<WorkspaceId, ApiError>
    /** Creates an enrolment token. The token is returned only once; the database stores its digest. */
    readonly token: (
      name: string,
      limits: { readonly uses: number; readonly lifetime: Duration.Duration }
    ) => Effect.Effect<
      {
        readonly id: EnrolmentTokenId
        readonly secret: Effect.Success<ReturnType<typeof mintSecret>>
        readonly expiresAt: string
      },
      ApiError
    >
    readonly revokeToken: (id: string) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/running/agent-pool/Pools") {
  static readonly layer = Layer.effect(
    Pools,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const exist = Effect.map(
        Effect.orDie(PoolRow.some(sql, "name")`SELECT name FROM agent_pools WHERE archived_at IS NULL LIMIT 1`),
        (rows) => rows.length > 0
      )

      const find = Effect.fnUntraced(function* (name: string) {
        const [row] = yield* Effect.orDie(
          PoolRow.rows(sql)`SELECT * FROM agent_pools WHERE name = ${name} AND archived_at IS NULL`
        )
        return row ?? (yield* new ApiError({ code: "not_found", message: `There is no pool ${name}.` }))
      })

      const list = Effect.gen(function* () {
        const rows = yield* ListedPool.rows(sql)`SELECT p.*,
          (SELECT COUNT(*) FROM agents a WHERE a.pool = p.name AND a.revoked_at IS NULL) AS agents
          FROM agent_pools p WHERE p.archived_at IS NULL ORDER BY p.name`
        const assigned = yield* AssignedHandle.rows(sql)`SELECT a.pool, w.handle FROM agent_pool_workspaces a
          JOIN workspaces w ON w.id = a.workspace_id ORDER BY w.handle`
        const provisions = yield* ProvidedHandle.rows(sql)`SELECT p.pool, p.name, w.handle FROM agent_pool_provisions p
          JOIN workspaces w ON w.id = p.workspace_id ORDER BY p.name, w.handle`
        return rows.map(
          (row): AgentPool => ({
            name: row.name,
            ...(row.isolation === null ? {} : { isolation: row.isolation }),
            leaseSeconds: row.lease_seconds,
            createdAt: row.created_at,
            provisions: provisions
              .filter(({ pool }) => pool === row.name)
              .map(({ handle, name }) => ({ name, workspace: handle })),
            workspaces: assigned.filter(({ pool }) => pool === row.name).map(({ handle }) => handle),
            agents: row.agents
          })
        )
      }).pipe(Effect.orDie)

      const create = Effect.fn("Pools.create")(function* (text: string, { isolation, leaseSeconds }: PoolSettings) {
        const name = yield* named(text).pipe(
          Effect.mapError(() => invalidRequest("A pool has a name of up to 63 lower-case letters, digits and hyphens."))
        )
        if (name === localPool) {
          return yield* failedPrecondition(`${localPool} is the pool of the control plane itself.`)
        }
        const [known] = yield* PoolRow.rows(sql)`SELECT * FROM agent_pools WHERE name = ${name}`
        if (known !== undefined && known.archived_at === null) {
          return yield* failedPrecondition(`There is a pool ${name} already.`)
        }
        const columns = { isolation: isolation ?? null, lease_seconds: leaseSeconds ?? defaultLeaseSeconds }
        if (known !== undefined) {
          yield* sql`UPDATE agent_pools SET ${PoolRow.changes(sql, { ...columns, archived_at: null, created_at: yield* now })}
            WHERE name = ${name}`
          return
        }
        yield* sql`INSERT INTO agent_pools ${PoolRow.values(sql, { name, ...columns, created_at: yield* now })}`
      }, transaction(sql))

      const set = Effect.fn("Pools.set")(function* (name: string, { isolation, leaseSeconds }: PoolSettings) {
        const pool = yield* find(name)
        yield* Effect.orDie(
          sql`UPDATE agent_pools SET ${PoolRow.changes(sql, {
            isolation: isolation ?? pool.isolation,
            lease_seconds: leaseSeconds ?? pool.lease_seconds
          })} WHERE name = ${pool.name}`
        )
      })

      const remove = Effect.fn("Pools.remove")(function* (name: string) {
        const pool = yield* find(name)
        const [used] = yield* Counted.rows(sql)`SELECT
          (SELECT COUNT(*) FROM agents WHERE pool = ${pool.name} AND revoked_at IS NULL)
          + (SELECT COUNT(*) FROM runs WHERE pool = ${pool.name} AND status IN ('queued', 'running')) AS count`
        if ((used?.count ?? 0) > 0) {
          return yield* failedPrecondition(
            `The pool ${name} has agents or open Runs. Revoke its agents, and let its Runs end or cancel them.`
          )
        }
        yield* sql`DELETE FROM agent_pool_workspaces WHERE pool = ${pool.name}`
        yield* sql`DELETE FROM agent_pool_provisions WHERE pool = ${pool.name}`
        yield* sql`UPDATE agent_enrolment_tokens SET revoked_at = ${yield* now}
          WHERE pool = ${pool.name} AND revoked_at IS NULL`
        yield* sql`UPDATE agent_pools SET archived_at = ${yield* now} WHERE name = ${pool.name}`
      }, transaction(sql))

      const workspaceOf = Effect.fnUntraced(function* (workspace: string) {
        const [found] = yield* Effect.orDie(
          FoundWorkspace.rows(sql)`SELECT id FROM workspaces WHERE id = ${workspace} OR handle = ${workspace}`
        )
        return found === undefined ? yield* notFound("Workspace") : found.id
      })

      const assign = Effect.fn("Pools.assign")(function* (name: string, workspace: string) {
        const pool = yield* find(name)
        const workspaceId = yield* workspaceOf(workspace)
        yield* Effect.orDie(
          sql`INSERT INTO agent_pool_workspaces ${PoolWorkspaceRow.values(sql, {
            pool: pool.name,
            workspace_id: workspaceId,
            assigned_at: yield* now
          })} ON CONFLICT DO NOTHING`
        )
        return workspaceId
      })

      const unassign = Effect.fn("Pools.unassign")(function* (name: string, workspace: string) {
        const pool = yield* find(name)
        const workspaceId = yield* workspaceOf(workspace)
        // Also removes the Workspace's credential permissions, so that assigning the pool again does not restore them.
        yield* Effect.orDie(
          sql`DELETE FROM agent_pool_provisions WHERE pool = ${pool.name} AND workspace_id = ${workspaceId}`
        )
        yield* Effect.orDie(
          sql`DELETE FROM agent_pool_workspaces WHERE pool = ${pool.name} AND workspace_id = ${workspaceId}`
        )
        return workspaceId
      })

      const provide = Effect.fn("Pools.provide")(function* (name: string, provided: string, workspace: string) {
        const pool = yield* find(name)
        const given = yield* providedName(provided).pipe(
          Effect.mapError(() =>
            invalidRequest("What a pool provides has a name of up to 63 lower-case letters, digits and hyphens.")
          )
        )
        const workspaceId = yield* workspaceOf(workspace)
        const [assigned] = yield* Effect.orDie(sql`SELECT 1 AS one FROM agent_pool_workspaces
          WHERE pool = ${pool.name} AND workspace_id = ${workspaceId}`)
        if (assigned === undefined) {
          return yield* failedPrecondition(
            `The Workspace may not use the pool ${name}. Assign it first: svc admin pool assign ${name} ${workspace}`
          )
        }
        yield* Effect.orDie(
          sql`INSERT INTO agent_pool_provisions ${ProvisionRow.values(sql, {
            pool: pool.name,
            name: given,
            workspace_id: workspaceId,
            provided_at: yield* now
          })} ON CONFLICT DO NOTHING`
        )
        return workspaceId
      })

      const withhold = Effect.fn("Pools.withhold")(function* (name: string, provided: string, workspace: string) {
        const pool = yield* find(name)
        const workspaceId = yield* workspaceOf(workspace)
        const ended = yield* Effect.orDie(sql`DELETE FROM agent_pool_provisions
          WHERE pool = ${pool.name} AND name = ${provided} AND workspace_id = ${workspaceId} RETURNING name`)
        return ended.length === 0 ? yield* notFound("Provision") : workspaceId
      })

      const token = Effect.fn("Pools.token")(function* (
        name: string,
        { lifetime, uses }: { readonly uses: number; readonly lifetime: Duration.Duration }
      ) {
        const pool = yield* find(name)
        const id = yield* newId(EnrolmentTokenId, "aet")
        const secret = yield* mintSecret("agentEnrolment")
        const expiresAt = new Date((yield* Clock.currentTimeMillis) + Duration.toMillis(lifetime)).toISOString()
        yield* Effect.orDie(
          sql`INSERT INTO agent_enrolment_tokens ${EnrolmentTokenRow.values(sql, {
            id,
            pool: pool.name,
            secret_hash: secretHash(secret),
            uses_left: uses,
            created_at: yield* now,
            expires_at: expiresAt
          })}`
        )
        return { id, secret, expiresAt }
      }, withRandom)

      const revokeToken = Effect.fn("Pools.revokeToken")(function* (id: string) {
        const revoked = yield* Effect.orDie(sql`UPDATE agent_enrolment_tokens SET revoked_at = ${yield* now}
          WHERE id = ${id} AND revoked_at IS NULL RETURNING id`)
        if (revoked.length === 0) return yield* notFound("Enrolment token")
      })

      return Pools.of({
        exist,
        find,
        list,
        create,
        set,
        remove,
        assign,
        unassign,
        provide,
        withhold,
        token,
        revokeToken
      })
    })
  )
}
