import type { AccessRule, WorkspaceAccess } from "../../../schema/api/Access.ts"

/** Security schemes, keyed by their names in OpenAPI. */
export const securitySchemes = {
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-svc_session",
    description:
      "Session of a signed-in person; `svc_session` while the server is reached over plain http on loopback. Requests that change something need a same-origin `Origin` or `Sec-Fetch-Site`."
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    description:
      "Personal access token (`svcp_...`) or an access token of the built-in issuer. GET needs the scope `read`, everything else `write`. Two credentials in one request are 401."
  },
  client: {
    type: "http",
    scheme: "basic",
    description:
      "Id and secret of a registered OAuth client. A client may send `client_id` and `client_secret` in the form instead; a public client sends its `client_id` alone."
  }
} as const

type Requirement = Readonly<Partial<Record<keyof typeof securitySchemes, ReadonlyArray<string>>>>

const session: Requirement = { session: [] }
const bearer: Requirement = { bearer: [] }

/** Returns the credentials that an endpoint accepts, as alternative OpenAPI security requirements. */
export const securityOf = (access: AccessRule): ReadonlyArray<Requirement> => {
  switch (access.kind) {
    case "public":
      return []
    case "token":
      return [bearer]
    case "account":
      return access.credential === "session" ? [session] : [session, bearer]
    case "workspace":
      return needsSession(access) && access.action === undefined ? [session] : [session, bearer]
  }
}

const needsSession = ({ confirmed, session }: WorkspaceAccess) => session === true || confirmed === true

const inPerson = (access: WorkspaceAccess): string => {
  if (access.action !== undefined) {
    return ", signed in, who confirmed within the last five minutes that it is them, or with a token and its person's confirmation of this action (`POST /api/v1/confirmations`); otherwise 403 `reauthentication_required`"
  }
  if (access.confirmed === true) {
    return ", signed in, who confirmed within the last five minutes that it is them (403 `reauthentication_required`); tokens are refused"
  }
  return access.session === true ? ", signed in; tokens are refused" : ""
}

const anySignedInPerson = (access: Extract<AccessRule, { kind: "account" }>) =>
  [
    access.credential === "session" ? "a signed-in person; tokens are refused" : "any valid credential",
    ...(access.wholeAccount === true ? ["not one that is bound to a Workspace"] : [])
  ].join(", ")

/** Describes the access rule in a sentence. */
export const accessSentence = (access: AccessRule): string => {
  switch (access.kind) {
    case "public":
      return "**Access:** everyone, without signing in."
    case "token":
      return "**Access:** the presented bearer token itself."
    case "account":
      return `**Access:** ${anySignedInPerson(access)}.`
    case "workspace":
      return `**Access:** active members with the role ${access.role} or more${inPerson(access)}.`
  }
}
