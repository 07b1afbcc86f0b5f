import { ownerAccess, publicAccess } from "../../schema/api/Access.ts"
import { accessSentence, securityOf } from "./description/AccessDescription.ts"
import type { RouteAccess } from "./description/RouteDescription.ts"

/** Everybody. */
export const everyone: RouteAccess = { security: [], sentence: accessSentence(publicAccess) }

/** Requires a signed-in person. */
export const person: RouteAccess = { security: securityOf(ownerAccess), sentence: accessSentence(ownerAccess) }

/** Requires a signed-in person who has confirmed their identity in the last few minutes. */
export const confirmedPerson: RouteAccess = {
  security: person.security,
  sentence:
    "**Access:** a signed-in person who confirmed within the last five minutes that it is them (403 `reauthentication_required`); tokens are refused."
}

/** Requires a form on a page of this server. The person need not be signed in. */
export const ownPage: RouteAccess = {
  security: [],
  sentence: "**Access:** forms of this server's own pages (`Origin`), without signing in."
}

/** Requires an operator with an account-wide token. */
export const operator: RouteAccess = {
  security: [{ bearer: [] }],
  sentence: "**Access:** operators of the installation, with a personal access token of the whole account."
}

/** Requires a registered OAuth client. A public client identifies itself in the form. */
export const oauthClient: RouteAccess = {
  security: [{ client: [] }, {}],
  sentence: "**Access:** registered clients, authenticated as they are registered."
}
