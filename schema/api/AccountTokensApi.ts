import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import {
  AccountToken,
  AccountTokenAuthority,
  AccountTokenInventory,
  AccountTokenScopeCatalog
} from "../records/AccountToken.ts"
import { WorkspaceId } from "../records/Ids.ts"
import { displayText, GivenTime } from "../records/Primitives.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const noStore = "Every response carries `Cache-Control: no-store` and `Pragma: no-cache`."

export class AccountTokensApi extends describedGroup("accountTokens", "Personal access tokens of an account.")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/account/tokens", {
      query: pageQuery,
      success: Schema.Struct({ tokens: Schema.Array(AccountToken), next_cursor: Schema.optionalKey(Schema.String) })
    }).annotateMerge(described(accessOf("GET /api/v1/account/tokens"), "List personal access tokens", noStore))
  )
  .add(
    HttpApiEndpoint.get("scopes", "/api/v1/account/tokens/scopes", { success: AccountTokenScopeCatalog }).annotateMerge(
      described(accessOf("GET /api/v1/account/tokens/scopes"), "Self-service scope catalogue", noStore)
    )
  )
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
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/account/tokens"),
        "Create a personal access token",
        `The secret is shown once. ${noStore}`
      )
    )
  )
  .add(
    HttpApiEndpoint.post("revoke", "/api/v1/account/tokens/:tokenId/revoke", {
      params: { tokenId: Schema.String },
      success: Schema.Struct({ token_record: AccountToken })
    }).annotateMerge(
      described(accessOf("POST /api/v1/account/tokens/:tokenId/revoke"), "Revoke a personal access token", noStore)
    )
  )
  .add(
    HttpApiEndpoint.get("inventory", "/api/v1/account/tokens/inventory.v1", {
      query: pageQuery,
      success: AccountTokenInventory
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/account/tokens/inventory.v1"),
        "Versioned inventory of all tokens, active and revoked",
        `Ascending by \`created_at\`, then \`token_id\`; \`total\` is counted before the cursor. Unknown query keys are refused. ${noStore}`
      )
    )
  )
  .add(
    HttpApiEndpoint.get("current", "/api/v1/account/tokens/current", { success: AccountTokenAuthority }).annotateMerge(
      described(
        accessOf("GET /api/v1/account/tokens/current"),
        "Authority of the presented token",
        `Reads only the bearer of the Authorization header and updates nothing. ${noStore}`
      )
    )
  ) {}
