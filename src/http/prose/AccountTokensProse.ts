import type { AccountTokensApi } from "../../../schema/api/AccountTokensApi.ts"
import { type GroupProse, route } from "./Prose.ts"

const noStore = "Every response carries `Cache-Control: no-store` and `Pragma: no-cache`."

export const accountTokensProse: GroupProse<typeof AccountTokensApi> = {
  about: "Personal access tokens of an account.",
  routes: {
    list: route("List personal access tokens", noStore),
    scopes: route("Self-service scope catalogue", noStore),
    create: route("Create a personal access token", `The secret is shown once. ${noStore}`),
    revoke: route("Revoke a personal access token", noStore),
    inventory: route(
      "Versioned inventory of all tokens, active and revoked",
      `Ascending by \`created_at\`, then \`token_id\`; \`total\` is counted before the cursor. Unknown query keys are refused. ${noStore}`
    ),
    current: route(
      "Authority of the presented token",
      `Reads only the bearer of the Authorization header and updates nothing. ${noStore}`
    )
  }
}
