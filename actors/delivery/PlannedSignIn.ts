import type { PlannedSignIn } from "../../schema/records/Run.ts"
import type { ResolvedDeliveries } from "./DeliverySidecar.ts"

/** What the apply of a plan registers for the sign-in of the Capsule's application; `undefined` without one. */
export const plannedSignIn = ({ endpoint, identity }: ResolvedDeliveries): PlannedSignIn | undefined =>
  endpoint === undefined || identity === undefined
    ? undefined
    : {
        redirectUri: identity.redirectUri,
        postLogoutRedirectUris: ["", ...(endpoint.postLogoutPaths ?? [])].map((path) => `${endpoint.url}${path}`)
      }
