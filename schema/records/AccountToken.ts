import { Schema } from "effect"
import { AccessTokenId, Subject, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { Role } from "./Workspace.ts"

const AnyMetadata = Schema.Null

/** A personal access token without its secret (specification, Accounts token records). */
export class AccountToken extends Schema.Opaque<AccountToken>()(
  Schema.Struct({
    token_id: AccessTokenId,
    subject: Subject,
    name: Schema.String,
    prefix: Schema.String,
    scopes: Schema.Array(Schema.String),
    workspace_id: Schema.NullOr(WorkspaceId),
    created_at: Timestamp,
    expires_at: Schema.NullOr(Timestamp),
    revoked_at: Schema.NullOr(Timestamp),
    last_used_at: Schema.NullOr(Timestamp)
  }).annotate({ identifier: "AccountToken" })
) {}

export class AccountTokenInventory extends Schema.Opaque<AccountTokenInventory>()(
  Schema.Struct({
    kind: Schema.Literal("svc.account-pat-inventory@v1"),
    tokens: Schema.Array(AccountToken),
    total: Schema.Int,
    returned: Schema.Int,
    limit: Schema.Int,
    truncated: Schema.Boolean,
    next_cursor: Schema.NullOr(Schema.String)
  }).annotate({ identifier: "AccountTokenInventory" })
) {}

export class AccountTokenAuthority extends Schema.Opaque<AccountTokenAuthority>()(
  Schema.Struct({
    kind: Schema.Literal("svc.account-pat-authority@v1"),
    token_id: AccessTokenId,
    subject: Subject,
    scopes: Schema.Array(Schema.String),
    workspace_id: Schema.NullOr(WorkspaceId),
    expires_at: Schema.NullOr(Timestamp),
    workspace_role: Schema.Union([Role, AnyMetadata])
  }).annotate({ identifier: "AccountTokenAuthority" })
) {}

export class AccountTokenScopeCatalog extends Schema.Opaque<AccountTokenScopeCatalog>()(
  Schema.Struct({
    kind: Schema.Literal("svc.account-pat-scope-catalog@v1"),
    scopes: Schema.Array(
      Schema.Struct({
        scope: Schema.String,
        label: Schema.Struct({ ja: Schema.String, en: Schema.String }),
        description: Schema.Struct({ ja: Schema.String, en: Schema.String }),
        selfService: Schema.Boolean,
        workspaceBinding: Schema.Literals(["optional", "required"])
      })
    )
  }).annotate({ identifier: "AccountTokenScopeCatalog" })
) {}
