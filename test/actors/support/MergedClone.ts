import { execFileSync } from "node:child_process"
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { TestPlane } from "../../support/TestPlane.ts"

type Git = (...args: ReadonlyArray<string>) => string

/** A clone of the served repository, until the Scope closes. The test changes it with the installed Git. */
export const cloned = Effect.gen(function* () {
  const { dataDir } = yield* TestPlane
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "svc-carry-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const environment = {
    ...process.env,
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "Mina"],
        [`GIT_${who}_EMAIL`, "mina@example.test"]
      ])
    )
  }
  const git: Git = (...args) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe", env: environment }).trim()
  git("clone", "-q", `${dirname(dataDir)}/repository.git`, ".")
  return {
    git,
    write: (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    commit: (message: string) => {
      git("add", "-A")
      git("commit", "-q", "--allow-empty", "-m", message)
    }
  }
})

/** The ways in which forges merge the branch `NAME-change` into the branch `NAME`, which is checked out. */
export const mergeWays: ReadonlyArray<readonly [string, (git: Git, name: string) => void]> = [
  ["merge", (git, name) => void git("merge", "-q", "--no-ff", "-m", "Merge it", `${name}-change`)],
  [
    "squash",
    (git, name) => {
      git("merge", "-q", "--squash", `${name}-change`)
      git("commit", "-q", "-m", "All in one")
    }
  ],
  [
    "rebase",
    (git, name) => {
      git("rebase", "-q", name, `${name}-change`)
      git("checkout", "-q", name)
      git("merge", "-q", "--ff-only", `${name}-change`)
    }
  ]
]
