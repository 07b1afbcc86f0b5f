import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ProvidedBy } from "../agent/ProvidedName.ts"
import { GivenConnectionUse } from "../records/ConnectionUse.ts"
import { Connection, ConnectionKind, CredentialRecipe, CredentialTestKind } from "../records/Connection.ts"
import { GivenCredentialOrigin, maxCredentialOrigins } from "../records/CredentialOrigin.ts"
import { CapsuleId, ConnectionId, RunId, WorkspaceId } from "../records/Ids.ts"
import { GitHubAppForm, GitHubOrganization } from "../records/GitHubApp.ts"
import { OAuthHelper } from "../records/OAuthHelper.ts"
import { OutputShare, SharedOutput } from "../records/OutputShare.ts"
import { displayText, GivenTime, Timestamp } from "../records/Primitives.ts"
import { created } from "./AnswerStatus.ts"
import { BrowserLanding } from "./BrowserLanding.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { GivenProviderAddress } from "../records/ProviderAddress.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

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
    /** Used instead of `values` and `files` if only the agents of a pool have the values. */
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
    /** An existing Connection that receives the new tokens. If absent, a new Connection is created. */
    connectionId: Schema.optionalKey(ConnectionId),
    /** Defaults to the helper's name. */
    displayName: Schema.optionalKey(displayName),
    use,
    expiresAt: Schema.optionalKey(GivenTime)
  }).annotate({ identifier: "StartOAuthConnection" })
) {}

export const StartedOAuthConnection = Schema.Struct({
  /** The URL to redirect the person's browser to. */
  authorizationUrl: Schema.String,
  /** The id that the new Connection will have. */
  connectionId: ConnectionId,
  /** Time at which the authorization expires. */
  expiresAt: Timestamp
})

export class StartGitHubApp extends Schema.Opaque<StartGitHubApp>()(
  Schema.Struct({
    workspaceId: WorkspaceId,
    /** The address of GitHub's website, such as `https://github.com`. */
    origin: GivenCredentialOrigin,
    /** The organization that will own the App. If absent, the person's account owns it. */
    organization: Schema.optionalKey(GitHubOrganization),
    /** The name of the new Connection. */
    displayName: Schema.optionalKey(displayName)
  }).annotate({ identifier: "StartGitHubApp" })
) {}

export const StartedGitHubApp = Schema.Struct({
  /** The URL to redirect the person's browser to. The page at this URL submits the form to GitHub. */
  formUrl: Schema.String,
  ...GitHubAppForm.fields,
  /** The id that the new Connection will have. */
  connectionId: ConnectionId,
  /** Time at which the registration expires. */
  expiresAt: Timestamp
})

export const TestedConnection = Schema.Struct({ connection: Connection, tested: CredentialTestKind })
export const UpdatedConnection = Schema.Struct({
  connection: Connection,
  /** Present only if new values were tested. */
  tested: Schema.optionalKey(CredentialTestKind),
  supersededRunIds: Schema.Array(RunId)
})

/** A query parameter, normally with a single value. The callback's handler decides what to do with repeated values. */
const AnswerParameter = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/** A revoked Connection, and the Runs that were stopped or voided because of it. */
export const RevokedConnection = Schema.Struct({
  connection: Connection,
  /** Plans that used the Connection and are now void. */
  supersededRunIds: Schema.Array(RunId),
  /** Plans, drift checks and syncs that use the Connection and have been asked to stop. */
  cancelledRunIds: Schema.Array(RunId),
  /** Running applies that use the Connection; revocation does not cancel them. */
  runningApplyIds: Schema.Array(RunId)
})

const ofConnection = { connectionId: Schema.String }
const ofShare = { shareId: Schema.String }

export class ConnectionsApi extends HttpApiGroup.make("connections")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/connections", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ connections: Schema.Array(Connection), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/connections", {
      payload: CreateConnection,
      success: Schema.Struct({ connection: Connection }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("test", "/api/v1/connections/:connectionId/test", {
      params: ofConnection,
      payload: Schema.optional(Schema.Struct({})),
      success: TestedConnection
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/connections/:connectionId", {
      params: ofConnection,
      success: Schema.Struct({ connection: Connection })
    }).annotate(ExtensionFamily, "connection-administration")
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/connections/:connectionId", {
      params: ofConnection,
      payload: UpdateConnection,
      success: UpdatedConnection
    }).annotate(ExtensionFamily, "connection-administration")
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/connections/:connectionId", {
      params: ofConnection,
      success: HttpApiSchema.NoContent
    }).annotate(ExtensionFamily, "connection-administration")
  )
  .add(
    HttpApiEndpoint.post("confirmOrigins", "/api/v1/connections/:connectionId/origins/confirm", {
      params: ofConnection,
      payload: Schema.Struct({ origins: GivenOrigins }),
      success: Schema.Struct({ connection: Connection })
    }).annotate(ExtensionFamily, "connection-administration")
  )
  .add(
    HttpApiEndpoint.post("revoke", "/api/v1/connections/:connectionId/revoke", {
      params: ofConnection,
      payload: Schema.optional(Schema.Struct({})),
      success: RevokedConnection
    })
  )
  .add(
    HttpApiEndpoint.post("startOAuth", "/api/v1/connections/oauth/:helperId/start", {
      params: { helperId: Schema.String },
      payload: StartOAuthConnection,
      success: StartedOAuthConnection
    }).annotate(ExtensionFamily, "oauth-helpers")
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
    })
      .annotate(ExtensionFamily, "oauth-helpers")
      .annotate(BrowserLanding, true)
  )
  .add(
    HttpApiEndpoint.post("startGitHubApp", "/api/v1/connections/github-app/start", {
      payload: StartGitHubApp,
      success: StartedGitHubApp
    }).annotate(ExtensionFamily, "connection-administration")
  )
  .add(
    HttpApiEndpoint.get("gitHubAppForm", "/api/v1/connections/github-app/form", {
      query: { state: Schema.optionalKey(AnswerParameter) },
      success: [GitHubAppForm, Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))]
    })
      .annotate(ExtensionFamily, "connection-administration")
      .annotate(BrowserLanding, true)
  )
  .add(
    HttpApiEndpoint.get("finishGitHubApp", "/api/v1/connections/github-app/callback", {
      query: { state: Schema.optionalKey(AnswerParameter), code: Schema.optionalKey(AnswerParameter) },
      success: Schema.Struct({ connection: Connection })
    })
      .annotate(ExtensionFamily, "connection-administration")
      .annotate(BrowserLanding, true)
  )
  .add(
    HttpApiEndpoint.get("providerConnections", "/api/v1/provider-connections", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ providerConnections: Schema.Array(Connection), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("recipes", "/api/v1/credential-recipes", {
      success: Schema.Struct({
        credentialRecipes: Schema.Array(CredentialRecipe),
        oauthHelpers: Schema.Array(OAuthHelper)
      })
    })
  )
  .add(
    HttpApiEndpoint.get("outputShares", "/api/v1/output-shares", {
      query: { ...pageQuery, workspaceId: Schema.String },
      success: Schema.Struct({ outputShares: Schema.Array(OutputShare), ...nextCursor })
    })
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
    })
  )
  .add(
    HttpApiEndpoint.post("approveOutputShare", "/api/v1/output-shares/:shareId/approve", {
      params: ofShare,
      payload: Schema.optional(Schema.Struct({})),
      success: Schema.Struct({ outputShare: OutputShare })
    })
  )
  .add(
    HttpApiEndpoint.post("revokeOutputShare", "/api/v1/output-shares/:shareId/revoke", {
      params: ofShare,
      payload: Schema.optional(Schema.Struct({})),
      success: Schema.Struct({ outputShare: OutputShare })
    })
  ) {}
