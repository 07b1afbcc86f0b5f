import { createHash } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../base/audit/Audit.ts"
import { InstallPolicy } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { decodeStoredConfig } from "../../ledger/configuration/InstallConfigStore.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { activationDigest, type CapsuleAuthority, isServing, readCapsuleAuthority } from "./CapsuleActivation.ts"
import { Grants } from "./Grants.ts"
import { IssuerSettings } from "./IssuerSettings.ts"
import { encodeScopes } from "./Scopes.ts"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Paths below a Capsule's origin. Rows written before the column existed contain no paths. */
export const PathsJson = jsonText(Schema.Array(Schema.String))

/** OAuth clients of Capsules. */
export const CapsuleClientRow = table("oidc_capsule_clients", {
  client_id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  redirect_uri: Schema.String,
  /** Additional paths that people may return to after signing out. The origin itself is always allowed. */
  post_logout_paths: Schema.NullOr(PathsJson),
  scopes: Schema.String,
  activation_digest: Schema.NullOr(Schema.String),
  /**
   * SHA-256 of the secret with which the Capsule's resource server introspects tokens; set if the module requests such a
   * secret.
   */
  introspection_hash: Schema.NullOr(Schema.String),
  status: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type CapsuleClientRow = RowOf<typeof CapsuleClientRow.columns>

/** The identity for which a plan was created. */
export const PlanPinRow = table("oidc_plan_pins", {
  plan_run_id: RunId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  endpoint_origin: Schema.String,
  post_logout_paths: Schema.NullOr(PathsJson),
  authority_digest: Schema.String,
  created_at: Timestamp
})
type PlanPinRow = RowOf<typeof PlanPinRow.columns>

const planContract = "svc.accounts-oidc-plan/v1"

/** The Capsule cannot be given the requested identity. Nothing was changed, and the tool must not run. */
export class CapsuleIdentityRefused extends Schema.TaggedError<CapsuleIdentityRefused>()("CapsuleIdentityRefused", {
  reason: Schema.Literals(["not_allowed", "origin_invalid", "drift", "capsule_gone"]),
  message: Schema.String
}) {}

const refused = (reason: CapsuleIdentityRefused["reason"], message: string) =>
  new CapsuleIdentityRefused({ reason, message })

/** The four values delivered to the module's variables, keyed by slot. None of them is secret. */
export interface IdentityDelivery {
  readonly accountsUrl: string
  readonly issuerUrl: string
  readonly clientId: string
  readonly redirectUri: string
}

interface Registration {
  readonly authority: CapsuleAuthority
  readonly delivery: IdentityDelivery
  /** Omitted if it is empty, so that the digests of existing pins do not change. */
  readonly postLogoutPaths?: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<string>
  readonly authorityDigest: string
}

/** Returns true for `https://host[:port]`, exactly as the URL parser writes it. */
const isCanonicalOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && url.protocol === "https:" && url.origin === text
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** Derives the client id of a Capsule. The id never changes, so svc can deliver it before the client is registered. */
export const capsuleClientId = (capsuleId: CapsuleId): string => derivedId(Schema.String, "oidc", capsuleId, "client")

/**
 * Implements the identity capability, and is the only code that creates OAuth clients for Capsules. A plan pins the values
 * without registering anything. The apply checks the pin before its tool runs, and registers the client when it settles. A
 * destroy retires the client. Nothing is inferred from a provider, an Output or a hostname.
 */
export class CapsuleClients extends Context.Service<
  CapsuleClients,
  {
    /**
     * Derives the four values from the endpoint, and pins their digest to the plan together with the sign-out paths. Returns
     * `undefined` if the configuration requests no identity. Fails with `CapsuleIdentityRefused` if anything is missing or
     * invalid.
     */
    readonly pin: (
      planRunId: RunId,
      capsuleId: CapsuleId,
      endpointUrl: string | undefined,
      postLogoutPaths?: ReadonlyArray<string>
    ) => Effect.Effect<IdentityDelivery | undefined, CapsuleIdentityRefused>
    /**
     * Derives the values again before the apply's tool runs, and compares them with the pin. Fails with `CapsuleIdentityRefused`
     * if a value, the configuration or the epoch has changed, or if a required pin is missing.
     */
    readonly check: (planRunId: RunId, capsuleId: CapsuleId) => Effect.Effect<void, CapsuleIdentityRefused>
    /**
     * Registers or renews the client in the transaction that settles a successful apply, with the current activation digest. If
     * the configuration requests no identity, retires an existing client. Repeating the call changes nothing. If
     * `introspectionSecret` is given, the Capsule's resource server may use it to introspect the client's tokens; the
     * previous secret becomes invalid.
     */
    readonly register: (
      planRunId: RunId | null,
      capsuleId: CapsuleId,
      introspectionSecret?: Redacted.Redacted
    ) => Effect.Effect<void, CapsuleIdentityRefused>
    /**
     * Retires the client, and revokes everything granted to it, in the transaction that settles a destroy. Repeating the call
     * changes nothing.
     */
    readonly retire: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/access/issuer/CapsuleClients") {
  static readonly layer = Layer.effect(
    CapsuleClients,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const grants = yield* Grants
  const { issuer } = yield* IssuerSettings
  const install = yield* InstallPolicy

  const requirementOf = Effect.fnUntraced(function* (authority: CapsuleAuthority) {
    const { compiled } = yield* Effect.orDie(decodeStoredConfig(authority.config))
    return compiled.requires.find((requirement) => requirement.kind === "identity.oidc")
  })

  const present = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
    const authority = yield* Effect.orDie(readCapsuleAuthority(sql, capsuleId))
    return authority === undefined || !isServing(authority)
      ? yield* refused("capsule_gone", "The Capsule is disabled or destroyed, so it gets no identity.")
      : authority
  })

  /** Returns the values that an apply would register now, or `undefined` if the configuration requests no identity. */
  const derive = Effect.fnUntraced(function* (
    capsuleId: CapsuleId,
    endpointUrl: string | undefined,
    postLogoutPaths: ReadonlyArray<string>
  ) {
    const authority = yield* present(capsuleId)
    const requirement = yield* requirementOf(authority)
    if (requirement === undefined) return undefined
    const allowed = install.policy.allowedOidcScopes ?? []
    const scopes = requirement.scopes.filter((scope) => allowed.includes(scope))
    const callbackAllowed = install.policy.allowedOidcCallbackPaths?.includes(requirement.callbackPath) !== false
    if (!scopes.includes("openid") || !callbackAllowed) {
      return yield* refused("not_allowed", "The operator's policy does not allow this Capsule an OpenID identity.")
    }
    if (endpointUrl === undefined || !isCanonicalOrigin(endpointUrl)) {
      return yield* refused(
        "origin_invalid",
        `The variable ${requirement.endpointVariable} has to be the canonical https origin of the Capsule, such as https://app.example.com, without path, query or a trailing slash.`
      )
    }
    const delivery: IdentityDelivery = {
      accountsUrl: issuer,
      issuerUrl: issuer,
      clientId: capsuleClientId(capsuleId),
      redirectUri: `${endpointUrl}${requirement.callbackPath}`
    }
    const returning = postLogoutPaths.length === 0 ? {} : { postLogoutPaths }
    const reviewed = { ...delivery, ...returning, scopes, activation: activationDigest(authority) }
    const authorityDigest = `sha256:${sha256(canonicalJson({ contract: planContract, ...reviewed }))}`
    return { authority, delivery, ...returning, scopes, authorityDigest } satisfies Registration
  })

  const pinned = Effect.fnUntraced(function* (planRunId: RunId | null, capsuleId: CapsuleId) {
    const [row] = yield* Effect.orDie(PlanPinRow.some(
      sql,
      "capsule_id",
      "endpoint_origin",
      "post_logout_paths",
      "authority_digest"
    )`SELECT capsule_id, endpoint_origin, post_logout_paths, authority_digest
      FROM oidc_plan_pins WHERE plan_run_id = ${planRunId} AND capsule_id = ${capsuleId}`)
    const requirement = yield* Effect.flatMap(present(capsuleId), requirementOf)
    if (requirement === undefined && row === undefined) return undefined
    const paths = PathsJson.read(row?.post_logout_paths ?? "[]")
    const derived = row === undefined ? undefined : yield* derive(capsuleId, row.endpoint_origin, paths)
    if (derived === undefined || derived.authorityDigest !== row?.authority_digest) {
      return yield* refused(
        "drift",
        "The Capsule's sign-in is not what the plan was reviewed with: origin, callback, scopes, configuration or epoch have moved. Plan again."
      )
    }
    return derived
  })

  const noteRegistration = (
    { authority, delivery, postLogoutPaths = [], scopes }: Registration,
    introspects: boolean
  ) =>
    audit.append({
      workspaceId: authority.workspace_id,
      actor: { kind: "service" },
      action: "identity.client.register",
      target: { kind: "oauth_client", id: delivery.clientId },
      capsuleId: authority.capsule_id,
      data: { scopes, redirectUri: delivery.redirectUri, postLogoutPaths, introspects }
    })

  const retire = Effect.fn("CapsuleClients.retire")(function* (capsuleId: CapsuleId) {
    const clientId = capsuleClientId(capsuleId)
    const retired = yield* CapsuleClientRow.some(sql, "workspace_id")`UPDATE oidc_capsule_clients
      SET ${CapsuleClientRow.changes(sql, {
        status: "retired",
        activation_digest: null,
        introspection_hash: null,
        updated_at: yield* now
      })}
      WHERE capsule_id = ${capsuleId} AND status = 'active' RETURNING workspace_id`
    yield* grants.revokeClient(clientId)
    yield* sql`DELETE FROM oidc_plan_pins WHERE capsule_id = ${capsuleId}`
    const [row] = retired
    if (row === undefined) return
    yield* audit.append({
      workspaceId: row.workspace_id,
      actor: { kind: "service" },
      action: "identity.client.retire",
      target: { kind: "oauth_client", id: clientId },
      capsuleId
    })
  }, Effect.orDie)

  return CapsuleClients.of({
    pin: Effect.fn("CapsuleClients.pin")(function* (planRunId, capsuleId, endpointUrl, postLogoutPaths = []) {
      const derived = yield* derive(capsuleId, endpointUrl, postLogoutPaths)
      if (derived === undefined || endpointUrl === undefined) return undefined
      yield* sql`INSERT INTO oidc_plan_pins ${PlanPinRow.values(sql, {
        plan_run_id: planRunId,
        workspace_id: derived.authority.workspace_id,
        capsule_id: capsuleId,
        endpoint_origin: endpointUrl,
        post_logout_paths: PathsJson.write(postLogoutPaths),
        authority_digest: derived.authorityDigest,
        created_at: yield* now
      })} ON CONFLICT (plan_run_id) DO UPDATE SET endpoint_origin = excluded.endpoint_origin,
        post_logout_paths = excluded.post_logout_paths, authority_digest = excluded.authority_digest, created_at = excluded.created_at`.pipe(
        Effect.orDie
      )
      return derived.delivery
    }),
    check: Effect.fn("CapsuleClients.check")((planRunId, capsuleId) => Effect.asVoid(pinned(planRunId, capsuleId))),
    register: Effect.fn("CapsuleClients.register")(function* (planRunId, capsuleId, introspectionSecret) {
      const registration = yield* pinned(planRunId, capsuleId)
      // Retires the client if the configuration no longer requests an identity.
      if (registration === undefined) return yield* retire(capsuleId)
      const { authority, delivery, postLogoutPaths = [], scopes } = registration
      const row = {
        redirect_uri: delivery.redirectUri,
        post_logout_paths: PathsJson.write(postLogoutPaths),
        scopes: encodeScopes(scopes),
        activation_digest: activationDigest(authority),
        introspection_hash: introspectionSecret === undefined ? null : sha256(Redacted.value(introspectionSecret)),
        status: "active"
      }
      const same = yield* Effect.orDie(sql`SELECT client_id FROM oidc_capsule_clients
        WHERE client_id = ${delivery.clientId} AND ${sql.and(
          Object.entries(row).map(([column, value]) =>
            value === null ? sql`${sql(column)} IS NULL` : sql`${sql(column)} = ${value}`
          )
        )}`)
      if (same.length > 0) return
      const at = yield* now
      yield* sql`INSERT INTO oidc_capsule_clients ${CapsuleClientRow.values(sql, {
        client_id: delivery.clientId,
        workspace_id: authority.workspace_id,
        capsule_id: capsuleId,
        ...row,
        created_at: at,
        updated_at: at
      })} ON CONFLICT (client_id) DO UPDATE SET redirect_uri = excluded.redirect_uri,
        post_logout_paths = excluded.post_logout_paths, scopes = excluded.scopes,
        activation_digest = excluded.activation_digest, introspection_hash = excluded.introspection_hash,
        status = 'active', updated_at = excluded.updated_at`.pipe(Effect.orDie)
      yield* noteRegistration(registration, introspectionSecret !== undefined)
    }),
    retire
  })
})
