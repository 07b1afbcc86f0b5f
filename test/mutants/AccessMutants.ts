import type { Mutant } from "./Mutant.ts"

const authorization = "test/src/http/AuthorizationTable.test.ts"
const memberRules = "test/src/http/MemberRules.test.ts"
const rolesFile = "schema/api/Roles.ts"
const crossOriginFile = "src/http/CrossOrigin.ts"
const crossOriginTest = "test/src/http/CrossOrigin.test.ts"

/** Mutants of permission checks. */
export const accessMutants: ReadonlyArray<Mutant> = [
  {
    name: "admission: sessions of account routes are checked again",
    file: "src/http/CommonHeaders.ts",
    text: "          admission = check\n",
    broken: "          check satisfies unknown\n",
    test: "test/src/accounts/RevokedSession.test.ts"
  },
  {
    name: "lists: a cursor belongs to the caller",
    file: "src/http/handlers/Commands.ts",
    text: "cursor: query.cursor, subject }",
    broken: "cursor: query.cursor, subject: subject.slice(0, 4) }",
    test: "test/src/http/ListCursors.test.ts"
  },
  {
    name: "admission: checked again in the transaction",
    file: "actors/base/database/Transaction.ts",
    text: "isNested ? effect : readmitted(effect)",
    broken: "isNested ? readmitted(effect) : effect",
    test: "test/src/http/Readmission.test.ts"
  },
  {
    name: "admission: commands of actors carry it",
    file: "actors/Actor.ts",
    text: "readmission === undefined ? actor : ",
    broken: "readmission !== undefined ? actor : ",
    test: "test/src/http/Readmission.test.ts"
  },
  {
    name: "role: POST /api/v1/runs/:runId/approve",
    file: rolesFile,
    text: `"POST /api/v1/runs/:runId/approve": admin(`,
    broken: `"POST /api/v1/runs/:runId/approve": member(`,
    test: authorization
  },
  {
    name: "role: POST /api/v1/runs/:runId/apply",
    file: rolesFile,
    text: `"POST /api/v1/runs/:runId/apply": admin(`,
    broken: `"POST /api/v1/runs/:runId/apply": member(`,
    test: authorization
  },
  {
    name: "role: POST /api/v1/runs/:runId/cancel",
    file: rolesFile,
    text: `"POST /api/v1/runs/:runId/cancel": member(`,
    broken: `"POST /api/v1/runs/:runId/cancel": viewer(`,
    test: authorization
  },
  {
    name: "role: POST /api/v1/connections",
    file: rolesFile,
    text: `"POST /api/v1/connections": admin(`,
    broken: `"POST /api/v1/connections": member(`,
    test: authorization
  },
  {
    name: "role: POST /api/v1/capsules/:capsuleId/release",
    file: rolesFile,
    text: `"POST /api/v1/capsules/:capsuleId/release": owner(`,
    broken: `"POST /api/v1/capsules/:capsuleId/release": admin(`,
    test: authorization
  },
  {
    name: "role: POST /api/v1/output-shares/:shareId/approve",
    file: rolesFile,
    text: `"POST /api/v1/output-shares/:shareId/approve": admin(`,
    broken: `"POST /api/v1/output-shares/:shareId/approve": member(`,
    test: authorization
  },
  {
    name: "role: POST /api/v1/workspaces/:workspaceId/members",
    file: rolesFile,
    text: `"POST /api/v1/workspaces/:workspaceId/members": admin(`,
    broken: `"POST /api/v1/workspaces/:workspaceId/members": member(`,
    test: authorization
  },
  {
    name: "roles: what a role includes",
    file: "schema/records/Workspace.ts",
    text: "rank[role] >= rank[required]",
    broken: "rank[role] <= rank[required]",
    test: authorization
  },
  {
    name: "role of the caller",
    file: "src/http/authorization/Permission.ts",
    text: "roleAtLeast(role, required)",
    broken: "true",
    test: authorization
  },
  {
    name: "token bound to another Workspace",
    file: "src/http/authorization/Permission.ts",
    text: "located.filter((place) => place.workspaceId === bound)",
    broken: "located",
    test: authorization
  },
  {
    name: "scope of a token",
    file: "src/http/authorization/Permission.ts",
    text: "principal.scopes.includes(scope)",
    broken: "true",
    test: authorization
  },
  {
    name: "session instead of a token",
    file: "src/http/authorization/Permission.ts",
    text: `if (wantsSession && principal.credential !== "session" && !isConfirmable) return sessionNeeded`,
    broken: "if (wantsSession && isConfirmable && isToken(principal) === false) return sessionNeeded",
    test: authorization
  },
  {
    name: "archived Workspace",
    file: "src/http/authorization/Admission.ts",
    text: "granted?.archived === true",
    broken: "granted === null",
    test: authorization
  },
  {
    name: "only owners change roles",
    file: "actors/access/member/Members.ts",
    text: `if (wanted.role !== undefined && wanted.role !== present.role && actor !== "owner")`,
    broken: "if (actor !== actor)",
    test: memberRules
  },
  {
    name: "only owners change owners",
    file: "actors/access/member/Members.ts",
    text: `if (present.role === "owner" && actor !== "owner")`,
    broken: "if (actor !== actor)",
    test: memberRules
  },
  {
    name: "only owners add owners",
    file: "actors/access/member/InvitationRights.ts",
    text: `if (role === "owner" && held !== "owner")`,
    broken: "if (held !== held)",
    test: memberRules
  },
  {
    name: "another origin: named ones alone",
    file: crossOriginFile,
    text: "named.has(origin) &&",
    broken: `origin !== "" &&`,
    test: crossOriginTest
  },
  {
    name: "another origin: no cookies",
    file: crossOriginFile,
    text: `["cookie", sessionHeader]`,
    broken: "[sessionHeader]",
    test: crossOriginTest
  },
  {
    name: "another origin: the API alone",
    file: crossOriginFile,
    text: "named.has(origin) && sharedPaths.test(path)",
    broken: "named.has(origin)",
    test: crossOriginTest
  },
  {
    name: "another origin: never credentials",
    file: crossOriginFile,
    text: `"access-control-max-age": "600"`,
    broken: `"access-control-max-age": "600", "access-control-allow-credentials": "true"`,
    test: crossOriginTest
  },
  {
    name: "the description has every route",
    file: "src/http/ServerApi.ts",
    text: "    GrantsApi,\n    IssuerApi,",
    broken: "    IssuerApi,",
    test: "test/src/http/Description.test.ts"
  },
  {
    name: "a Retry-After that nobody described",
    file: "src/http-kit/ErrorResponse.ts",
    text: `"retry-after": String(error.retryAfter)`,
    broken: `"retry-after": "soon"`,
    test: "test/src/http/RateLimits.test.ts"
  },
  {
    name: "the built-in sample opens exactly one address of the server to Git",
    file: "runner/git/FetchPolicy.ts",
    text: "address.success === sample",
    broken: "address.success.startsWith(new URL(sample).origin)",
    test: "test/runner/git/SampleRepository.test.ts"
  }
]
