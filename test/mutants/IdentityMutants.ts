import type { Mutant } from "./Mutant.ts"

const capsuleClients = "test/src/accounts/oidc/CapsuleClientRules.test.ts"
const clientsFile = "actors/access/issuer/Clients.ts"
const operatorTable = "test/src/http/OperatorTable.test.ts"
const operatorRoutes = "src/http/OperatorRoutes.ts"
const authenticationFile = "src/accounts/oidc/ClientAuthentication.ts"

/** Mutants of clients: the permissions and lifetimes of Capsules' clients and operators' clients. */
export const identityMutants: ReadonlyArray<Mutant> = [
  {
    name: "introspection: the secret of the resource server",
    file: authenticationFile,
    text: "if (hash === undefined || secret === undefined || !secretMatches(secret, hash)) return yield* unknownClient",
    broken: "if (hash === undefined || secret === undefined) return yield* unknownClient",
    test: capsuleClients
  },
  {
    name: "introspection: a Capsule whose identity stands",
    file: authenticationFile,
    text: "return denial === undefined ? client : yield* unknownClient",
    broken: "return denial === undefined ? client : client",
    test: capsuleClients
  },
  {
    name: "introspection: tokens of its own client",
    file: "actors/access/issuer/TokenInspection.ts",
    text: "if (good.client.id !== by.id && !by.guards.includes(good.audience)) return { active: false }",
    broken: "if (good.client.id === undefined) return { active: false }",
    test: capsuleClients
  },
  {
    name: "sign-out: reviewed return paths",
    file: "src/accounts/oidc/LogoutEndpoints.ts",
    text: "if (!isRegisteredRedirect(uri, postLogoutRedirectUris, applicationType)) {",
    broken: "if (postLogoutRedirectUris.every((known) => !uri.startsWith(known))) {",
    test: capsuleClients
  },
  {
    name: "sign-out: the paths of this Capsule",
    file: clientsFile,
    text: 'PathsJson.read(post_logout_paths ?? "[]")',
    broken:
      'PathsJson.read(post_logout_paths === null ? "[]" : "[\\"/goodbye\\",\\"/de/tschuess\\",\\"/elsewhere\\"]")',
    test: capsuleClients
  },
  {
    name: "operator: granted, and by no role",
    file: operatorRoutes,
    text: "if (!(yield* operators.isOperator(principal.subject))) return yield* notOperator",
    broken: "if (principal.subject.length === 0) return yield* notOperator",
    test: operatorTable
  },
  {
    name: "operator: no session and no application",
    file: operatorRoutes,
    text: 'if (principal.credential !== "token") return yield* tokenNeeded',
    broken: 'if (principal.credential === "oauth") return yield* tokenNeeded',
    test: operatorTable
  },
  {
    name: "operator: a token of the whole account",
    file: operatorRoutes,
    text: "if (principal.boundWorkspaceId !== undefined) return yield* confined",
    broken: "if (principal.subject.length === 0) return yield* confined",
    test: operatorTable
  },
  {
    name: "operator: revoked at the next request",
    file: "actors/access/account/Operators.ts",
    text: "WHERE subject = ${subject} AND is_operator = 1 AND status = 'active'",
    broken: "WHERE subject = ${subject} AND status = 'active'",
    test: operatorTable
  }
]
