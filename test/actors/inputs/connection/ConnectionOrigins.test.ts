import { expect, test } from "bun:test"
import { Effect, Result } from "effect"
import {
  checkConfirmation,
  gitConnectionProblem,
  originsProblem
} from "../../../../actors/inputs/connection/ConnectionOrigins.ts"
import { defaultGitPolicy } from "../../../../runner/git/GitPolicy.ts"
import { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { CredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"

const origin = CredentialOrigin.make("https://git.example.com")
const team = CredentialOrigin.make("https://git.example.com/team/")
const elsewhere = CredentialOrigin.make("https://other.example.com")
const ssh = CredentialOrigin.make("ssh://git.example.com")

test("origins are refused if their scheme does not match the kind of a Git Connection, or if the Connection is for a provider", () => {
  expect(originsProblem("provider", undefined, defaultGitPolicy)).toBeUndefined()
  expect(originsProblem("git_https", [origin, team], defaultGitPolicy)).toBeUndefined()
  expect(originsProblem("git_ssh", [ssh], defaultGitPolicy)).toBeUndefined()
  expect(originsProblem("provider", [origin], defaultGitPolicy)).toContain("only a Connection of Git or a forge")
  expect(originsProblem("git_https", undefined, defaultGitPolicy)).toContain("required")
  expect(originsProblem("git_https", [origin, ssh], defaultGitPolicy)).toContain("origins[1]: expected https://")
  expect(originsProblem("git_ssh", [origin], defaultGitPolicy)).toContain("origins[0]: expected ssh://")
})

const workspaceId = WorkspaceId.make("ws_00000000000000000000000a")
const row = {
  workspace_id: workspaceId,
  kind: "git_https",
  origins: JSON.stringify([team]),
  display_name: "deploy"
} as const

test("a Workspace can use only its own Connections, and only for servers that a person has confirmed", () => {
  expect(gitConnectionProblem(row, workspaceId, "https://git.example.com/team/app")).toBeUndefined()
  expect(gitConnectionProblem(row, workspaceId, "https://git.example.com/other/app")?.message).toContain("elsewhere")
  expect(gitConnectionProblem(row, workspaceId, "https://git.example.com:8443/team/app")?.code).toBe("invalid_request")
  expect(gitConnectionProblem({ ...row, origins: null }, workspaceId, "https://git.example.com/team/app")?.code).toBe(
    "failed_precondition"
  )
})

test.each([
  ["none", undefined],
  ["one of another Workspace", { ...row, workspace_id: WorkspaceId.make("ws_00000000000000000000000b") }],
  ["one of the operator", { ...row, workspace_id: null }],
  ["one for a provider", { ...row, kind: "provider" }]
] as const)("the response to %s does not reveal whether the Connection exists", (_name, found) => {
  expect(gitConnectionProblem(found, workspaceId, "https://git.example.com/team/app")).toEqual({
    code: "invalid_request",
    message: "the Workspace has no such Git Connection."
  })
})

const unconfirmed = {
  kind: "git_https",
  status: "verified",
  origins: null,
  proposed_origins: JSON.stringify([{ origin: team, sources: [] }])
} as const
const confirmed = (
  different: Partial<Parameters<typeof checkConfirmation>[0]>,
  origins: ReadonlyArray<CredentialOrigin>
) => {
  const outcome = Effect.runSync(
    Effect.result(checkConfirmation({ ...unconfirmed, ...different }, origins, defaultGitPolicy))
  )
  return Result.isFailure(outcome) ? outcome.failure.code : outcome.success
}

test("only proposed origins can be confirmed, and a confirmation cannot be changed", () => {
  expect(confirmed({}, [team])).toBe(true)
  expect(confirmed({}, [elsewhere])).toBe("invalid_request")
  expect(confirmed({}, [team, origin])).toBe("invalid_request")
  expect(confirmed({ proposed_origins: "[]" }, [team])).toBe("invalid_request")
  const stored = JSON.stringify([team, elsewhere])
  expect(confirmed({ origins: stored }, [elsewhere, team])).toBe(false)
  expect(confirmed({ origins: stored }, [team])).toBe("guard_conflict")
  expect(confirmed({ kind: "provider" }, [team])).toBe("failed_precondition")
  expect(confirmed({ status: "revoked" }, [team])).toBe("failed_precondition")
})
