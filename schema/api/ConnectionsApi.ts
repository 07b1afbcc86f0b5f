import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { ProvidedBy } from "../agent/ProvidedName.ts"
import { GivenConnectionUse } from "../records/ConnectionUse.ts"
import { Connection, ConnectionKind, CredentialRecipe, CredentialTestKind } from "../records/Connection.ts"
import { GivenCredentialOrigin, maxCredentialOrigins } from "../records/CredentialOrigin.ts"
import { CapsuleId, ConnectionId, RunId, WorkspaceId } from "../records/Ids.ts"
import { OAuthHelper } from "../records/OAuthHelper.ts"
import { OutputShare, SharedOutput } from "../records/OutputShare.ts"
import { displayText, GivenTime, Timestamp } from "../records/Primitives.ts"
import { created, described, describedGroup, describedLanding } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"
import { GivenProviderAddress } from "../records/ProviderAddress.ts"

const CredentialFile = Schema.Struct({
  name: Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, { description: "a plain file name" })
  ),
  content: Schema.String.check(Schema.isMaxLength(1_048_576)),
  envName: Schema.optionalKey(Schema.String)
})

const GivenOrigins = Schema.Array(GivenCredentialOrigin).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(maxCredentialOrigins)
)

export class CreateConnection extends Schema.Opaque<CreateConnection>()(
  Schema.Struct({
    workspaceId: WorkspaceId,
    provider: GivenProviderAddress,
    kind: Schema.optionalKey(ConnectionKind),
    recipeId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
    authMode: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
    displayName: displayText(120),
    values: Schema.optionalKey(Schema.Record(Schema.String, Schema.String.check(Schema.isMaxLength(65_536)))),
    files: Schema.optionalKey(Schema.Array(CredentialFile).check(Schema.isMaxLength(16))),
    origins: Schema.optionalKey(GivenOrigins),
    /** The values stay with the agents of a pool, instead of `values` and `files`. */
    providedBy: Schema.optionalKey(ProvidedBy),
    providerConfig: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
    moduleInputDefaults: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
    use: Schema.optionalKey(GivenConnectionUse),
    expiresAt: Schema.optionalKey(GivenTime)
  }).annotate({ identifier: "CreateConnection" })
) {}

const { displayName, files, use, values } = CreateConnection.fields

export class UpdateConnection extends Schema.Opaque<UpdateConnection>()(
  Schema.Struct({
    displayName: Schema.optionalKey(displayName),
    /** `null` removes the expiry. */
    expiresAt: Schema.optionalKey(Schema.NullOr(GivenTime)),
    use,
    values,
    files
  }).annotate({ identifier: "UpdateConnection" })
) {}

export class StartOAuthConnection extends Schema.Opaque<StartOAuthConnection>()(
  Schema.Struct({
    workspaceId: WorkspaceId,
    /** Gives new tokens to this Connection instead of creating one. */
    connectionId: Schema.optionalKey(ConnectionId),
    /** Defaults to the helper's own. */
    displayName: Schema.optionalKey(displayName),
    use,
    expiresAt: Schema.optionalKey(GivenTime)
  }).annotate({ identifier: "StartOAuthConnection" })
) {}

export const StartedOAuthConnection = Schema.Struct({
  /** Where the person's browser goes next. */
  authorizationUrl: Schema.String,
  /** The Connection to be created. */
  connectionId: ConnectionId,
  /** When the authorization expires. */
  expiresAt: Timestamp
})

export const TestedConnection = Schema.Struct({ connection: Connection, tested: CredentialTestKind })
export const UpdatedConnection = Schema.Struct({
  connection: Connection,
  /** Only for new values. */
  tested: Schema.optionalKey(CredentialTestKind),
  supersededRunIds: Schema.Array(RunId)
})

/** One value, as it should be, or several: the handler of the answer decides what that means. */
const AnswerParameter = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/** A Connection that was revoked, with what ended because of it. */
export const RevokedConnection = Schema.Struct({
  connection: Connection,
  /** Plans made with it, which are now void. */
  supersededRunIds: Schema.Array(RunId),
  /** Plans, drift checks and syncs that run with it and were asked to stop. */
  cancelledRunIds: Schema.Array(RunId),
  /** Applies that run with it and continue. */
  runningApplyIds: Schema.Array(RunId)
})

const ofConnection = { connectionId: Schema.String }
const ofShare = { shareId: Schema.String }

export class ConnectionsApi extends describedGroup(
  "connections",
  "Credentials of providers and repositories, and shared Outputs."
)
  .add(
    HttpApiEndpoint.get("list", "/api/v1/connections", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ connections: Schema.Array(Connection), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/connections"),
        "List Connections",
        "Names of variables and files, never their values."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/connections", {
      payload: CreateConnection,
      success: Schema.Struct({ connection: Connection }).pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/connections"),
        "Create a write-only Connection",
        "Values and file contents are sealed and never come back. A Git Connection names in `origins` the only places its values are sent to: exact origins, each with an optional path prefix that matches whole segments. They never change afterwards. `providerConfig` and `moduleInputDefaults` are non-secret; credential-shaped fields in them are refused. With `providedBy` the values stay with the agents of a pool, and there are no `values`, `files`, recipe and origins: the operator has given the Workspace what the pool provides under that name (otherwise 409 `failed_precondition`), and only Runs that this pool executes can use it."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("test", "/api/v1/connections/:connectionId/test", {
      params: ofConnection,
      payload: Schema.optional(Schema.Struct({})),
      success: TestedConnection
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/connections/:connectionId/test"),
        "Verify a Connection",
        "Opens the sealed values. `tested` says what that proves: `git_server` when the server of every Source that uses it took them, `completeness` when no more can be tested without a Run than that they are all there, `pool` when they stay with the agents of a pool and the operator lets the Workspace use them."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/connections/:connectionId", {
      params: ofConnection,
      success: Schema.Struct({ connection: Connection })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/connections/:connectionId"),
        "Read a Connection",
        "Names of variables and files, never their values. `use` is the rule of who may use it and for what."
      )
    )
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/connections/:connectionId", {
      params: ofConnection,
      payload: UpdateConnection,
      success: UpdatedConnection
    }).annotateMerge(
      described(
        accessOf("PATCH /api/v1/connections/:connectionId"),
        "Rename, grant, prolong or rotate a Connection",
        "`values` and `files` each replace all of their kind and never come back. They are tested like `POST .../test` before anything is written; then plans that were made with the old ones and are not applied become `superseded`, approved or not, and `version` counts one up. `use` replaces the whole rule: `roles` (a role includes the ones above it), and what it is confined to: `projectIds`, `modules` (`origin` is an origin with an optional path prefix, `path` the module's path in the repository) and `refs` (without them the adopted lane and the Source's default; a plan of another ref has to be started by an owner or admin). `expiresAt` lies in the future, `null` ends it. Of two changes at once the second may get 409 `guard_conflict`."
      )
    )
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/connections/:connectionId", {
      params: ofConnection,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      described(
        accessOf("DELETE /api/v1/connections/:connectionId"),
        "Remove a Connection",
        "409 `failed_precondition` names what still uses it: Capsules, Sources, installs and Runs under way. Its values are deleted."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("confirmOrigins", "/api/v1/connections/:connectionId/origins/confirm", {
      params: ofConnection,
      payload: Schema.Struct({ origins: GivenOrigins }),
      success: Schema.Struct({ connection: Connection })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/connections/:connectionId/origins/confirm"),
        "Confirm where a Git Connection may be sent",
        "For a Connection made before it had origins, which is sent nowhere until then. `origins` is the exact list that counts from now on: each is one of `proposedOrigins` or lies within one, and what is left out stays refused. Confirming is final. When somebody confirmed another list meanwhile: 409 `guard_conflict`; repeating the same list changes nothing."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("revoke", "/api/v1/connections/:connectionId/revoke", {
      params: ofConnection,
      payload: Schema.optional(Schema.Struct({})),
      success: RevokedConnection
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/connections/:connectionId/revoke"),
        "Revoke a Connection",
        "Ends it at once and for good: nothing is given its values from then on. Plans that were made with it and are not applied yet become `superseded`, approved or not, and Runs that need it are blocked. Plans, drift checks and syncs that run with it are asked to stop. An apply that runs is not stopped half-way: it goes on with what it was given, `runningApplyIds` names it, and `cancel` stops it. The sealed values are deleted; while a Run still holds them a sealed copy is kept for one purpose, to hide them in what that Run says, and deleted when it is over. Revoking again changes nothing."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("startOAuth", "/api/v1/connections/oauth/:helperId/start", {
      params: { helperId: Schema.String },
      payload: StartOAuthConnection,
      success: StartedOAuthConnection
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/connections/oauth/:helperId/start"),
        "Start an OAuth helper",
        "Answers where to send the browser, for a Connection that will be there once the person has agreed and come back to the callback: within ten minutes, once, in this session. With `connectionId` the answer gives that Connection new tokens: a rotation, as with `PATCH`. Needs the session of a signed-in person: a token is refused with 403. 501 `capability_not_available` where the operator declares no helper (`features.oauth_helpers` of the capabilities is false); 404 for one that is not declared. `GET /api/v1/credential-recipes` lists them."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("finishOAuth", "/api/v1/connections/oauth/:helperId/callback", {
      params: { helperId: Schema.String },
      query: {
        state: Schema.optionalKey(AnswerParameter),
        code: Schema.optionalKey(AnswerParameter),
        iss: Schema.optionalKey(AnswerParameter),
        error: Schema.optionalKey(AnswerParameter),
        error_description: Schema.optionalKey(AnswerParameter)
      },
      success: Schema.Struct({ connection: Connection })
    }).annotateMerge(
      describedLanding(
        accessOf("GET /api/v1/connections/oauth/:helperId/callback"),
        "Finish an OAuth helper",
        "The redirect URI that the operator registers at the authorization server, one a helper: a browser comes here with the answer. Whatever else the server puts into the query is ignored, and the query is never a 400. The session, the person and the helper have to be those of the start, and the person still an owner or admin of the Workspace: otherwise 403 and no Connection. 409 `failed_precondition` for an answer that nothing waits for, or that does not hold; 503 while the server cannot be asked. A browser (`Accept: text/html`) is sent on to the Connections of the Workspace, or shown why there is none."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("providerConnections", "/api/v1/provider-connections", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ providerConnections: Schema.Array(Connection), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/provider-connections"),
        "ProviderConnections visible to the Workspace",
        "Read-only; Connections are created at `POST /api/v1/connections`."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("recipes", "/api/v1/credential-recipes", {
      success: Schema.Struct({
        credentialRecipes: Schema.Array(CredentialRecipe),
        oauthHelpers: Schema.Array(OAuthHelper)
      })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/credential-recipes"),
        "List Credential Recipes",
        "Which variables and files a provider usually needs, as a form would ask for them. A recipe holds no credential. `oauthHelpers` are the ways in which the operator lets a Connection be made by asking a person at the provider; see `POST /api/v1/connections/oauth/{helperId}/start`."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("outputShares", "/api/v1/output-shares", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ outputShares: Schema.Array(OutputShare), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/output-shares"),
        "List OutputShares from or to the Workspace",
        "The receiving side sees a share from its offer on."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("createOutputShare", "/api/v1/output-shares", {
      payload: Schema.Struct({
        fromWorkspaceId: WorkspaceId,
        toWorkspaceId: WorkspaceId,
        producerCapsuleId: CapsuleId,
        outputs: Schema.Array(SharedOutput).check(Schema.isMinLength(1), Schema.isMaxLength(64))
      }),
      success: Schema.Struct({ outputShare: OutputShare }).pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/output-shares"),
        "Offer Outputs to another Workspace",
        "Public Outputs only, under the aliases by which the receiver names them. Nothing is readable there until an admin of it approves."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("approveOutputShare", "/api/v1/output-shares/:shareId/approve", {
      params: ofShare,
      payload: Schema.optional(Schema.Struct({})),
      success: Schema.Struct({ outputShare: OutputShare })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/output-shares/:shareId/approve"),
        "Accept an offered share, on the receiving side",
        "From then on its Capsules may depend on the shared Outputs. An offer of an Output that has become private since, or of a Capsule that has ended, is refused (409) with the reason."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("revokeOutputShare", "/api/v1/output-shares/:shareId/revoke", {
      params: ofShare,
      payload: Schema.optional(Schema.Struct({})),
      success: Schema.Struct({ outputShare: OutputShare })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/output-shares/:shareId/revoke"),
        "Revoke a share, on either side",
        "It counts at once. Plans of the receiving Workspace that were given a value through this share and are not applied yet become `superseded`, approved or not, and an apply of one that still waits is refused when it starts; an apply that runs is not touched, and what was applied stays. The next plan of a Capsule that requires a shared Output fails. The answer tells nothing of those plans; the receiving Workspace finds their ids in its audit event."
      )
    )
  ) {}
