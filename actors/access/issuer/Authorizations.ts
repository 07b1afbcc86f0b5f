import { Context, Effect, Layer, Option, type Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { AuthorizationCodes, type NewCode } from "./AuthorizationCodes.ts"
import type { Client } from "./Client.ts"
import { Clients } from "./Clients.ts"
import { Consents } from "./Consents.ts"
import { DeviceCodes, type DeviceRequest } from "./DeviceCodes.ts"
import { type Grant, Grants, type NewGrant } from "./Grants.ts"
import { interfacePermissions, workspacesOfResource } from "./InterfacePermissions.ts"
import { type Denial, type LiveAuthority, liveAuthority } from "./LiveAuthority.ts"
import { failClosed, type OAuthError, refuse } from "./OAuthError.ts"
import { isAtRegisteredAddress } from "./RemovedRedirects.ts"
import { noClaims, scopesOfClaims } from "./RequestedClaims.ts"
import { StaticClients } from "./StaticClients.ts"

/** The person who decides about a request, and their browser session. */
export interface Decider {
  readonly subject: string
  readonly sessionId: string
  /** Time at which the person authenticated, in seconds since the Unix epoch. */
  readonly authTime: number
}

export interface AuthorizationDecision {
  readonly client: Client
  readonly decider: Decider
  readonly grant: Pick<NewGrant, "workspaceId" | "scopes" | "claims" | "resource">
  readonly code: Omit<NewCode, "grantId">
  readonly requestId: string
}

/** The error if the person is not an active member of the requested Workspace. */
export const noMembership = (): OAuthError =>
  refuse("access_denied", "The person has no active membership in that Workspace.")

const denial = ({ reason }: Denial): OAuthError => {
  switch (reason) {
    case "membership":
    case "foreign_workspace":
      return noMembership()
    case "account":
      return refuse("access_denied", "The account is not active.")
    default:
      return refuse("access_denied", "The application's sign-in is not active. It has to be applied again first.")
  }
}

/** Grants authority to clients, with a person's consent. */
export class Authorizations extends Context.Service<
  Authorizations,
  {
    /** Checks whether the person may see the consent page. Writes nothing. Fails with `access_denied`. */
    readonly preview: (
      client: Client,
      subject: string,
      workspaceId: WorkspaceId | undefined
    ) => Effect.Effect<LiveAuthority, OAuthError>
    /**
     * Returns the requested Workspace. If the client requests no Workspace, as is usual for general OAuth clients, returns
     * the only Workspace in which the resource is an Interface available to this person.
     */
    readonly meantWorkspace: (
      client: Client,
      subject: string,
      request: Pick<NewGrant, "resource" | "workspaceId">
    ) => Effect.Effect<WorkspaceId | undefined, OAuthError>
    /**
     * Returns the requested scopes that this person can grant to this client: the client's registered scopes or, for an
     * Interface, the person's permissions for it. Fails with `invalid_target` if there are none.
     */
    readonly grantable: (
      client: Client,
      subject: string,
      request: Pick<NewGrant, "resource" | "scopes" | "workspaceId">
    ) => Effect.Effect<ReadonlyArray<string>, OAuthError>
    /**
     * Checks the authority and writes the code in one transaction. Fails with `access_denied`, or with `invalid_target` for an
     * Interface that the person may not invoke.
     */
    readonly authorize: (decision: AuthorizationDecision) => Effect.Effect<Redacted.Redacted, OAuthError>
    /** Like `authorize`, but for a waiting device. Fails with `expired_token` if the device is no longer waiting. */
    readonly approveDevice: (
      client: Client,
      decider: Decider,
      request: DeviceRequest,
      requestId: string
    ) => Effect.Effect<void, OAuthError>
    readonly denyDevice: (request: DeviceRequest) => Effect.Effect<void, OAuthError>
  }
>()("svc/actors/access/issuer/Authorizations") {
  static readonly layer = Layer.effect(
    Authorizations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const clients = yield* Clients
      const codes = yield* AuthorizationCodes
      const consents = yield* Consents
      const devices = yield* DeviceCodes
      const grants = yield* Grants
      const registered = yield* StaticClients

      const authority = Effect.fnUntraced(function* (
        through: SqlClient.SqlClient,
        client: Client,
        subject: string,
        workspaceId: WorkspaceId | undefined
      ): Effect.fn.Return<LiveAuthority, OAuthError | SqlError> {
        const live = yield* liveAuthority(through, client, subject, workspaceId)
        return Result.isFailure(live) ? yield* denial(live.failure) : live.success
      })

      const narrowed = Effect.fnUntraced(function* (
        through: SqlClient.SqlClient,
        client: Client,
        subject: string,
        { resource, scopes, workspaceId }: Pick<NewGrant, "resource" | "scopes" | "workspaceId">
      ): Effect.fn.Return<ReadonlyArray<string>, OAuthError | SqlError> {
        const own = scopes.filter((scope) => client.scopes.includes(scope))
        if (resource === undefined || registered.resourceServers.has(resource)) return own
        const at = { client, resource, subject, workspaceId }
        const permissions = yield* interfacePermissions(through, at)
        const invoking = scopes.filter((scope) => permissions.includes(scope))
        if (invoking.length === 0) {
          return yield* refuse("invalid_target", "The person has no Interface at this resource with such a permission.")
        }
        return [...new Set([...own, ...invoking])]
      })

      const grantTo = Effect.fnUntraced(function* (
        asked: Client,
        decider: Decider,
        grant: AuthorizationDecision["grant"] & Pick<NewGrant, "redirectUri">,
        requestId: string
      ): Effect.fn.Return<Grant, OAuthError | SqlError> {
        // Read the client inside the transaction, because an apply or destroy may have changed it in the meantime.
        const client = yield* clients.find(sql, asked.id)
        if (Option.isNone(client)) return yield* refuse("access_denied", "The client is not registered any more.")
        if (!isAtRegisteredAddress(client.value, grant)) {
          return yield* refuse("access_denied", "The redirect_uri is not registered any more.")
        }
        yield* authority(sql, client.value, decider.subject, grant.workspaceId)
        const open = yield* sql`SELECT id FROM account_sessions
          WHERE id = ${decider.sessionId} AND subject = ${decider.subject} AND revoked_at IS NULL`
        if (open.length === 0) return yield* refuse("login_required", "The session has ended.")
        const place = { subject: decider.subject, clientId: asked.id, workspaceId: grant.workspaceId }
        const scopes = yield* narrowed(sql, client.value, decider.subject, grant)
        yield* consents.remember(place, [...scopes, ...scopesOfClaims(grant.claims)])
        const granted = yield* grants.insert({ ...grant, ...decider, scopes, clientId: asked.id })
        yield* audit.append({
          workspaceId: grant.workspaceId ?? null,
          actor: { kind: "user", subject: decider.subject },
          action: "identity.grant.create",
          target: { kind: "oauth_grant", id: granted.id },
          data: { clientId: asked.id, scopes },
          requestId
        })
        return granted
      })

      return Authorizations.of({
        preview: Effect.fn("Authorizations.preview")((client, subject, workspaceId) =>
          failClosed(authority(read, client, subject, workspaceId))
        ),
        meantWorkspace: Effect.fn("Authorizations.meantWorkspace")((client, subject, { resource, workspaceId }) =>
          Effect.gen(function* () {
            if (workspaceId !== undefined || resource === undefined || registered.resourceServers.has(resource))
              return workspaceId
            const [only, ...others] = yield* workspacesOfResource(read, { client, resource, subject })
            return others.length === 0 ? only : undefined
          }).pipe(failClosed)
        ),
        grantable: Effect.fn("Authorizations.grantable")((client, subject, request) =>
          Effect.gen(function* () {
            // If the person is not a member, the error does not reveal whether the resource exists.
            if (request.resource !== undefined) yield* authority(read, client, subject, request.workspaceId)
            return yield* narrowed(read, client, subject, request)
          }).pipe(failClosed)
        ),
        authorize: Effect.fn("Authorizations.authorize")(({ client, code, decider, grant, requestId }) =>
          grantTo(client, decider, { ...grant, redirectUri: code.redirectUri }, requestId).pipe(
            Effect.flatMap((granted) => codes.issue({ ...code, grantId: granted.id })),
            sql.withTransaction,
            failClosed
          )
        ),
        approveDevice: Effect.fn("Authorizations.approveDevice")((client, decider, request, requestId) =>
          Effect.gen(function* () {
            const { resource, scopes, workspaceId } = request
            const granted = yield* grantTo(
              client,
              decider,
              { workspaceId, scopes, resource, redirectUri: undefined, claims: noClaims },
              requestId
            )
            if (!(yield* devices.settle(request.id, granted.id))) {
              return yield* refuse("expired_token", "The device does not wait for this code any more.")
            }
          }).pipe(sql.withTransaction, failClosed)
        ),
        denyDevice: Effect.fn("Authorizations.denyDevice")((request) =>
          failClosed(Effect.asVoid(devices.settle(request.id, undefined)))
        )
      })
    })
  )
}
