import type { Mutant } from "./Mutant.ts"

const actors = "test/src/embedding/Actors.test.ts"
const routes = "test/src/embedding/Routes.test.ts"
const conformance = "test/src/embedding/Conformance.test.ts"
const principal = "src/http-kit/HostIdentity.ts"

/** Mutants of an embedding program's permissions. */
export const embeddingMutants: ReadonlyArray<Mutant> = [
  {
    name: "embedding: an actor has an open account",
    file: "src/accounts/AuthenticatorLayer.ts",
    text: ": Effect.as(accounts.requireOpen(identity.subject), principal)",
    broken: ": Effect.succeed(principal)",
    test: actors
  },
  {
    name: "embedding: the service has no account",
    file: "src/http/authorization/Permission.ts",
    text: 'if (rule.kind === "account" && principal.credential === "service") return noAccount',
    broken: 'if (rule.kind === "account" && principal.credential === "service") return undefined',
    test: actors
  },
  {
    name: "embedding: limits among the scopes confine an actor",
    file: principal,
    text: "...(limits === undefined ? {} : { limits })",
    broken: "...(limits === undefined ? {} : {})",
    test: actors
  },
  {
    name: "embedding: an actor is confined to its Workspace",
    file: principal,
    text: "...(workspaceId === undefined ? {} : { boundWorkspaceId: workspaceId }),",
    broken: "",
    test: actors
  },
  {
    name: "embedding: no cookie below a prefix",
    file: "src/embedding/Routes.ts",
    text: 'headers.delete("cookie")',
    broken: 'headers.delete("x-cookie")',
    test: routes
  },
  {
    name: "embedding: only the API is open below a prefix",
    file: "src/embedding/Routes.ts",
    text: "if (!isOpen(path)) return unknown",
    broken: 'if (path === "") return unknown',
    test: routes
  },
  {
    name: "embedding: an approval is bound to what was reviewed",
    file: "src/client/services/Runs.ts",
    text: "payload: { planDigest, ...options }",
    broken: "payload: { ...options }",
    test: conformance
  }
]
