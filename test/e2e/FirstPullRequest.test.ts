import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { resultShapes } from "../../src/cli/ResultShapes.ts"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"
import { type ShellBlock, shellBlocks } from "../support/DocumentedBlocks.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { fakeForgejo } from "../support/forge/FakeForgejo.ts"
import { fakeGitHub } from "../support/forge/FakeGitHub.ts"
import { fakeGitLab } from "../support/forge/FakeGitLab.ts"
import { type ForgeState, forgeState, openPullRequest } from "../support/forge/ForgeState.ts"
import { loopback } from "../support/LoopbackServer.ts"
import { hostedServer, personPassword } from "./support/HostedServer.ts"
import { services } from "./support/NetworkShell.ts"
import { shellOf } from "./support/Shell.ts"

setDefaultTimeout(180_000)

const isUnfit =
  ["bash", "curl", "git", "jq", "terraform"].some((program) => Bun.which(program) === null) &&
  process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

const blocks = shellBlocks("first-pull-request.md")
const scriptOf = (section: string) => {
  const found = blocks.find((block: ShellBlock) => block.section === section)
  if (found === undefined) throw new Error(`docs/first-pull-request.md has no commands below "${section}"`)
  return found.script
}

interface Part {
  readonly section: string
  readonly provider: string
  readonly serve: (state: ForgeState) => ReturnType<typeof fakeGitLab>
  readonly permissions: ReadonlyArray<string>
}

const parts: ReadonlyArray<Part> = [
  {
    section: "GitHub",
    provider: "github",
    serve: (state) => fakeGitHub(state),
    permissions: ["contents=read", "pull_requests=read", "pull_requests=write", "statuses=write"]
  },
  { section: "GitLab", provider: "gitlab", serve: fakeGitLab, permissions: ["api", "notes", "statuses"] },
  {
    section: "Forgejo and Gitea",
    provider: "forgejo",
    serve: fakeForgejo,
    permissions: ["repository", "issue", "user"]
  }
]

/** Serves a forge from one origin: Git below the repository's path, and the fake API everywhere else. */
const forgeOf = Effect.fnUntraced(function* (part: Part, gitdir: string) {
  const state = forgeState()
  const robot = { id: 7, login: "svc-robot" }
  state.tokens.set("token-of-the-robot", { account: robot, permissions: new Set(part.permissions) })
  const repository = state.addRepository("acme/network")
  repository.collaborators.set(robot.login, "write")
  const api = yield* part.serve(state)
  const token = Buffer.from("oauth2:token-of-the-reader").toString("base64")
  const git = yield* serveRepository({ gitdir })
  const seen: Array<string> = []
  const origin = yield* loopback((request, response) => {
    const isGit = (request.url ?? "").startsWith("/acme/network.git/")
    if (isGit) seen.push(request.headers.authorization ?? "")
    const target = isGit ? git.url + (request.url ?? "").slice("/acme/network.git".length) : api + (request.url ?? "")
    const forward = async () => {
      const body: Array<Buffer> = []
      for await (const part of request) body.push(Buffer.from(part))
      const headers = new Headers()
      for (const name of ["accept", "authorization", "content-type", "content-encoding", "git-protocol"]) {
        const value = request.headers[name]
        if (typeof value === "string") headers.set(name, value)
      }
      const method = request.method ?? "GET"
      const answer = await fetch(target, {
        method,
        headers,
        redirect: "manual",
        ...(body.length === 0 ? {} : { body: Buffer.concat(body) })
      })
      const content = Buffer.from(await answer.arrayBuffer())
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
      response.end(content)
    }
    forward().catch(() => response.destroy())
  })
  return { origin, repository, robot, seen, state, token }
})

describe.skipIf(isUnfit)("First pull request", () => {
  for (const part of parts) {
    it.live(
      `the commands in docs/first-pull-request.md produce a plan and a comment when run against a fake ${part.section}`,
      () =>
        Effect.gen(function* () {
          const files = yield* FileSystem.FileSystem
          const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-first-pull-request-" })
          const gitdir = `${folder}/network.git`
          yield* createRepository({ gitdir })
          const forge = yield* forgeOf(part, gitdir)
          const server = yield* hostedServer({ "main.tf": "" }, { gitAllowOrigins: forge.origin })
          const { workspace } = yield* server.client.workspaces.create({
            payload: { handle: "acme", displayName: "Acme" }
          })
          const author = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.test" }
          const shell = yield* shellOf({
            SVC_URL: server.url,
            SVC_TOKEN: Redacted.value(server.token),
            SVC_WORKSPACE: "acme",
            ...author,
            GIT_COMMITTER_NAME: author.GIT_AUTHOR_NAME,
            GIT_COMMITTER_EMAIL: author.GIT_AUTHOR_EMAIL
          })
          /**
           * Runs the commands shown on the page. The test user pushes to the repository's folder, because the test's Git
           * server is read-only.
           */
          const run = Effect.fnUntraced(function* (script: string) {
            const real = script
              .replaceAll(/remote add origin \S+/g, `remote add origin ${gitdir}`)
              .replaceAll(/https:\/\/(?:github\.com|gitlab\.com|git\.example\.com)/g, forge.origin)
            const { code, error, out } = yield* shell.run(`set -eu\n${real}`)
            expect([script, code, code === 0 ? "" : error]).toEqual([script, 0, ""])
            return out
          })

          yield* run(scriptOf(part.section))
          yield* files.writeFileString(`${shell.home}/forge.json`, '{"token":"token-of-the-robot"}')
          yield* run(
            `svc connection create forge --kind forge --provider ${part.provider} --auth-mode token --origin ${forge.origin} --values forge.json`
          )
          yield* run(scriptOf("The module"))
          yield* run(scriptOf("The first apply"))
          expect(forge.seen.length).toBeGreaterThan(0)
          expect(forge.seen.every((header) => header.startsWith("Basic "))).toBe(true)
          yield* run(scriptOf("Pull requests"))
          yield* run(scriptOf("Propose a change"))
          const head = (yield* run("git -C network rev-parse south")).trim()
          openPullRequest(forge.repository, 1, forge.robot, { headCommit: head, headRef: "south", baseRef: "main" })
          const ref = part.provider === "gitlab" ? "merge-requests" : "pull"
          yield* run(`git -C network push --quiet origin south:refs/${ref}/1/head`)
          yield* files.writeFileString(`${shell.home}/password.txt`, `${personPassword}\n`)
          const { sources } = yield* server.client.sources.list({ query: { workspaceId: workspace.id } })
          yield* run(
            `svc source hook-secret network --json --password-stdin < password.txt > hook.json
jq -r '"Authorization: Bearer " + .hookSecret' hook.json | curl --silent --show-error --fail --request POST --header @- ${server.url}/hooks/sources/${sources[0]?.id}`
          )
          const [comment] = yield* eventually(
            Effect.sync(() => forge.repository.pullRequests.get(1)?.comments ?? []),
            (comments) =>
              comments.some(({ body }) =>
                /network \(production\).*planned: `needs 1 of admin or above` \| ~1 `[\w-]{12}`/.test(body)
              )
          )
          expect(comment?.author).toEqual(forge.robot)
          yield* eventually(
            Effect.sync(() => forge.state.statuses),
            (statuses) => statuses.some(({ commit, context }) => commit === head && context === "svc/acme")
          )
          const last = blocks.filter(({ section }) => section === "Propose a change").at(-1)?.script ?? "false"
          const shown = yield* run(last)
          expect(shown).toContain("Change 1")
          expect(shown).toContain("network")

          // The terminal prints the same verdicts as the comment, before and after somebody approves the change.
          const verdicts = Effect.gen(function* () {
            const [, listed = ""] = /^#1 .* (\d+ [a-z]+(?: [a-z]+)?)(?: {2}|$)/m.exec(yield* run("svc pr list")) ?? []
            const [, verdict = ""] = /^ {2}network\/production: ([^;]*);/m.exec(yield* run("svc pr show 1")) ?? []
            return [listed, verdict]
          })
          expect(yield* verdicts).toEqual(["1 planned", "planned"])
          const { pullRequest } = JSON.parse(yield* run("svc pr show 1 --json"))
          const runId: string = pullRequest.capsules[0].run.id
          const plan = (yield* server.client.runs.read({ params: { runId } })).run
          const approval = yield* run(`svc approve ${runId} --digest ${plan.planDigest} --json`)
          const printed = Object.keys(JSON.parse(approval))
          expect(printed).toEqual(["changeApproval"])
          expect(Object.keys(resultShapes["approve"] ?? {})).toEqual(
            expect.arrayContaining(printed.map((key) => `${key}?`))
          )
          expect(yield* verdicts).toEqual(["1 approved", "approved"])
        }).pipe(Effect.provide(services))
    )
  }
})
