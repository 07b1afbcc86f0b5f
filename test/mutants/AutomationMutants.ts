import type { Mutant } from "./Mutant.ts"

const members = "test/actors/access/member/AutomationMembers.test.ts"
const routes = "test/src/accounts/AutomationRoutes.test.ts"
const stopped = "test/actors/commands/source/StoppedLooks.test.ts"
const limits = "test/src/http/LimitedTokens.test.ts"
const named = "test/src/http/NamedRecords.test.ts"

/** Mutants of automation members, and of limited tokens. */
export const automationMutants: ReadonlyArray<Mutant> = [
  {
    name: "a disabled Source stops every look",
    file: "actors/ledger/source/FollowedSource.ts",
    text: `source.status === "disabled"`,
    broken: `source.status === "error"`,
    test: stopped
  },
  {
    name: "a Source without autoSync stops looks that no person asked for",
    file: "actors/ledger/source/FollowedSource.ts",
    text: "isAutomatic(look) && source.auto_sync !== 1",
    broken: "isAutomatic(look) && source.auto_sync === 2",
    test: stopped
  },
  {
    name: "a look reads its Source again when it settles",
    file: "actors/running/execution/SyncExecution.ts",
    text: "yield* reason === undefined ? settle : stopped(run, reason)",
    broken: "yield* reason === null ? stopped(run, reason) : settle",
    test: stopped
  },
  {
    name: "a followed plan is not made without its Source",
    file: "actors/running/execution/AutomaticObstacle.ts",
    text: "const unwanted = isFollow ? yield* unwantedFollow(run, capsule)",
    broken: "const unwanted = isFollow ? undefined",
    test: stopped
  },
  {
    name: "what a look put off is forgotten with it",
    file: "actors/commands/source/SourceActor.ts",
    text: "yield* (yield* CapsuleLedger).forgetDeferred(id)",
    broken: "",
    test: stopped
  },
  {
    name: "no session of an automation is accepted",
    file: "actors/access/account/Sessions.ts",
    text: " AND u.kind = 'person'",
    broken: "",
    test: members
  },
  {
    name: "an automation never owns a Workspace",
    file: "actors/access/member/InvitationRights.ts",
    text: `wanted.role === "owner" ? noOwner() : undefined`,
    broken: "undefined",
    test: members
  },
  {
    name: "only people leave",
    file: "actors/access/member/Members.ts",
    text: ` && kind === "person"`,
    broken: "",
    test: members
  },
  {
    name: "the tokens of a removed automation end with it",
    file: "actors/access/member/Members.ts",
    text: `if (present.kind === "automation") yield* ofDatabase(endAutomationTokens(subject))`,
    broken: "",
    test: members
  },
  {
    name: "a person's tokens are nobody else's",
    file: "actors/access/member/AutomationTokens.ts",
    text: `found?.kind === "automation" ? found.subject`,
    broken: "found !== undefined ? found.subject",
    test: routes
  },
  {
    name: "the history says what stopped",
    file: "actors/access/member/Members.ts",
    text: `const goes = present.status === "active" && status !== "active"`,
    broken: "const goes = false",
    test: routes
  },
  {
    name: "a limited token is held to its limits",
    file: "src/http/authorization/TokenConfinement.ts",
    text: "return found.every((place) => withinLimits(limits, place)) ? Effect.void : outside",
    broken: "return Effect.void",
    test: limits
  },
  {
    name: "what lies in no Project is beyond every limit",
    file: "src/http/authorization/TokenConfinement.ts",
    text: "if (found.length === 0) return beyond",
    broken: "if (found.length === 0) return Effect.void",
    test: limits
  },
  {
    name: "every Capsule of a record has to be within the limits",
    file: "src/http/authorization/TokenConfinement.ts",
    text: "found.every((place)",
    broken: "found.some((place)",
    test: limits
  },
  {
    name: "a Dependency is not made beyond the limits by its body",
    file: "schema/api/Roles.ts",
    text: `admin("path.capsuleId", { limited: "refused" })`,
    broken: `admin("path.capsuleId")`,
    test: limits
  },
  {
    name: "a limited token names no record outside its limits in a body",
    file: "src/http/authorization/NamedRecords.ts",
    text: "if (places.length > 0 && places.every((place) => withinLimits(limits, place))) continue",
    broken: "if (places.every((place) => withinLimits(limits, place))) continue",
    test: named
  },
  {
    name: "a record that the body names has to be within the limits",
    file: "src/http/authorization/NamedRecords.ts",
    text: "places.every((place) => withinLimits(limits, place))) continue",
    broken: "places.every((place) => limits !== place)) continue",
    test: named
  },
  {
    name: "a limited token brings no Connection that its Capsule does not bind",
    file: "src/http/authorization/NamedRecords.ts",
    text: "WHERE c.id = ${inPath} AND b.connection_id = ${named}`",
    broken: "WHERE c.id = ${inPath} AND b.connection_id <> ${named}`",
    test: named
  },
  {
    name: "a limited token brings back no Connection by a rollback",
    file: "schema/api/Roles.ts",
    text: `rebinds: "stateVersion"`,
    broken: "",
    test: named
  },
  {
    name: "a limited token brings back no Connection by a restore",
    file: "schema/api/Roles.ts",
    text: `rebinds: "backup"`,
    broken: "",
    test: named
  },
  {
    name: "every Connection in a list of bindings is judged",
    file: "src/http/authorization/NamedRecords.ts",
    text: "(Array.isArray(child) ? child : [])",
    broken: "(Array.isArray(child) ? child.slice(0, 1) : [])",
    test: named
  }
]
