import type { PlannedSignIn } from "../../../schema/records/Run.ts"
import type { ResolvedDeliveries } from "./DeliverySidecar.ts"

/** What applying a plan registers for signing in to the Capsule's application; `undefined` if nothing is registered. */
export const plannedSignIn = ({ endpoint, identity }: ResolvedDeliveries): PlannedSignIn | undefined =>
  endpoint === undefined || identity === undefined
    ? undefined
    : {
        redirectUri: identity.redirectUri,
        postLogoutRedirectUris: ["", ...(endpoint.postLogoutPaths ?? [])].map((path) => `${endpoint.url}${path}`)
      }
