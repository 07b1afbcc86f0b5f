import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  AccountToken,
  AccountTokenAuthority,
  AccountTokenInventory,
  AccountTokenScopeCatalog
} from "../records/AccountToken.ts"
import { WorkspaceId } from "../records/Ids.ts"
import { displayText, GivenTime } from "../records/Primitives.ts"
import { created } from "./AnswerStatus.ts"
import { pageQuery } from "./Paging.ts"

export class AccountTokensApi extends HttpApiGroup.make("accountTokens")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/account/tokens", {
      query: pageQuery,
      success: Schema.Struct({ tokens: Schema.Array(AccountToken), next_cursor: Schema.optionalKey(Schema.String) })
    })
  )
  .add(HttpApiEndpoint.get("scopes", "/api/v1/account/tokens/scopes", { success: AccountTokenScopeCatalog }))
  .add(
    HttpApiEndpoint.post("create", "/api/v1/account/tokens", {
      payload: Schema.Struct({
        name: displayText(80),
        scopes: Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))).check(
          Schema.isMinLength(1),
          Schema.isMaxLength(32)
        ),
        workspace_id: Schema.optionalKey(WorkspaceId),
        expires_at: Schema.optionalKey(GivenTime)
      }),
      success: Schema.Struct({ token: Schema.String, token_record: AccountToken }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("revoke", "/api/v1/account/tokens/:tokenId/revoke", {
      params: { tokenId: Schema.String },
      success: Schema.Struct({ token_record: AccountToken })
    })
  )
  .add(
    HttpApiEndpoint.get("inventory", "/api/v1/account/tokens/inventory.v1", {
      query: pageQuery,
      success: AccountTokenInventory
    })
  )
  .add(HttpApiEndpoint.get("current", "/api/v1/account/tokens/current", { success: AccountTokenAuthority })) {}
